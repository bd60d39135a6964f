package metrics

import (
	"compress/gzip"
	"fmt"
	"io"
	"iter"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/common/expfmt"
	"github.com/prometheus/common/model"
)

// page is the parsed response of /metrics, by name of the metric family.
type page map[string]*dto.MetricFamily

// scrape requests /metrics and parses the response.
func scrape(t *testing.T, m *Metrics) page {
	t.Helper()
	answer := httptest.NewRecorder()
	m.Handler().ServeHTTP(answer, httptest.NewRequest("GET", "/metrics", nil))
	if kind := answer.Header().Get("Content-Type"); answer.Code != 200 || !strings.HasPrefix(kind, "text/plain; version=0.0.4") {
		t.Fatalf("scrape: status code %d with content type %q, want 200 with Prometheus' text format", answer.Code, kind)
	}
	parser := expfmt.NewTextParser(model.LegacyValidation)
	families, err := parser.TextToMetricFamilies(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return families
}

// series returns the series of the named metric family with the given labels, which are sorted by name, such as
// `a="1",b="2"`. It fails and ends the test if there is no such series.
func (p page) series(t *testing.T, name, labels string) *dto.Metric {
	t.Helper()
	var all []string
	for _, series := range p[name].GetMetric() {
		if text := labelText(series); text == labels {
			return series
		} else {
			all = append(all, text)
		}
	}
	t.Fatalf("%s: got the series\n%s\nwant one with the labels {%s}", name, strings.Join(all, "\n"), labels)
	return nil
}

// labelText returns the labels of a series in the notation of page.series.
func labelText(series *dto.Metric) string {
	var labels []string
	for _, label := range series.GetLabel() {
		labels = append(labels, fmt.Sprintf("%s=%q", label.GetName(), label.GetValue()))
	}
	return strings.Join(labels, ",")
}

// expect checks that the named counter or gauge with the given labels has the value want.
func (p page) expect(t *testing.T, name, labels string, want float64) {
	t.Helper()
	series := p.series(t, name, labels)
	if got := series.GetCounter().GetValue() + series.GetGauge().GetValue(); got != want {
		t.Errorf("%s{%s} = %v, want %v", name, labels, got, want)
	}
}

// expectHistogram checks the named histogram with the given labels: the number (count) and the sum of its samples, and
// the upper bounds of its buckets except +Inf.
func (p page) expectHistogram(t *testing.T, name, labels string, count uint64, sum float64, bounds []float64) {
	t.Helper()
	h := p.series(t, name, labels).GetHistogram()
	if h.GetSampleCount() != count || h.GetSampleSum() != sum {
		t.Errorf("%s{%s}: %d samples with the sum %v, want %d with %v", name, labels, h.GetSampleCount(), h.GetSampleSum(), count, sum)
	}
	var got []float64
	for _, bucket := range h.GetBucket()[:len(h.GetBucket())-1] { // the last bucket is +Inf
		got = append(got, bucket.GetUpperBound())
	}
	if !slices.Equal(got, bounds) {
		t.Errorf("%s: buckets %v, want %v", name, got, bounds)
	}
}

// TestProcessAndRuntime checks that a scrape contains metrics of the process and of the Go runtime.
func TestProcessAndRuntime(t *testing.T) {
	p := scrape(t, New())
	for _, name := range []string{"go_goroutines", "go_memstats_alloc_bytes", "process_cpu_seconds_total", "process_resident_memory_bytes"} {
		if p[name] == nil {
			t.Errorf("scrape() contains no metric %s", name)
		}
	}
}

// TestMetricsAreIndependent checks that two Metrics in a process share no series of requests.
func TestMetricsAreIndependent(t *testing.T) {
	one, other := New(), New()
	one.Endpoint(Request{Verb: Get, Subresource: "/healthz"}).Done(200, time.Millisecond, 2)
	if got := scrape(t, other)["apiserver_request_total"]; got != nil {
		t.Errorf("apiserver_request_total of the Metrics without requests = %v, want no series", got)
	}
}

func TestGzip(t *testing.T) {
	request := httptest.NewRequest("GET", "/metrics", nil)
	request.Header.Set("Accept-Encoding", "gzip")
	answer := httptest.NewRecorder()
	New().Handler().ServeHTTP(answer, request)
	unzipped, err := gzip.NewReader(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	text, err := io.ReadAll(unzipped)
	if err != nil || !strings.Contains(string(text), "go_goroutines ") {
		t.Errorf("decompressed response = %q, error = %v; want it to contain go_goroutines", text, err)
	}
}

func TestCommits(t *testing.T) {
	m := New()
	m.Commit(Committed, time.Second/4)
	m.Commit(Committed, time.Second/4)
	m.Commit(Conflicted, time.Second/2)
	p := scrape(t, m)
	p.expect(t, "cadastre_store_commits_total", `result="committed"`, 2)
	p.expect(t, "cadastre_store_commits_total", `result="conflict"`, 1)
	p.expect(t, "cadastre_store_commits_total", `result="failed"`, 0)
	p.expectHistogram(t, "cadastre_store_commit_duration_seconds", "", 3, 1, commitBuckets)
}

func TestManagedFields(t *testing.T) {
	m := New()
	m.ManagedFields(Repaired, 3)
	m.ManagedFields(Dropped, 2)
	m.ManagedFields(Dropped, 2)
	p := scrape(t, m)
	p.expect(t, "cadastre_managed_fields_entries_total", `outcome="repaired"`, 3)
	p.expect(t, "cadastre_managed_fields_entries_total", `outcome="dropped"`, 4)
	p.expect(t, "cadastre_managed_fields_entries_total", `outcome="kept"`, 0)
}

func TestCountObjects(t *testing.T) {
	m := New()
	pods := 1
	m.CountObjects(func() iter.Seq[ObjectCount] {
		return slices.Values([]ObjectCount{{"", "pods", pods}, {"apps", "deployments", 7}})
	})
	scrape(t, m).expect(t, "apiserver_storage_objects", `resource="pods"`, 1)
	pods = 2
	p := scrape(t, m)
	p.expect(t, "apiserver_storage_objects", `resource="pods"`, 2)
	p.expect(t, "apiserver_storage_objects", `resource="deployments.apps"`, 7)
	p.expect(t, "apiserver_resource_objects", `group="",resource="pods"`, 2)
	p.expect(t, "apiserver_resource_objects", `group="apps",resource="deployments"`, 7)
}

func TestWatched(t *testing.T) {
	m := New()
	w := m.Watched("apps", "v1", "deployments")
	w.Initial(2)
	for _, bytes := range []int{100, 1024, 4000} {
		w.Sent(bytes)
	}
	p := scrape(t, m)
	p.expect(t, "apiserver_init_events_total", `group="apps",resource="deployments"`, 2)
	const labels = `group="apps",resource="deployments",version="v1"`
	p.expect(t, "apiserver_watch_events_total", labels, 3)
	p.expectHistogram(t, "apiserver_watch_events_sizes", labels, 3, 5124, []float64{1024, 2048, 4096, 8192, 16384, 32768, 65536, 131072})
	if got := p.series(t, "apiserver_watch_events_sizes", labels).GetHistogram().GetBucket()[0].GetCumulativeCount(); got != 2 {
		t.Errorf("bucket of events of at most 1024 bytes: got %d events, want 2", got)
	}
}
