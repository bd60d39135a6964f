package wire

import (
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/test/clients/target"
)

// series returns the samples of one scrape of /metrics: a map from names with labels to values.
func (s server) series(t *testing.T) map[string]float64 {
	t.Helper()
	all := map[string]float64{}
	for line := range strings.Lines(s.must(t, 200, "GET", "/metrics", "").body) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		line = strings.TrimSpace(line)
		end := strings.LastIndexByte(line, ' ')
		number, err := strconv.ParseFloat(line[end+1:], 64)
		if err != nil {
			t.Fatalf("invalid sample %q in /metrics: %v", line, err)
		}
		all[line[:end]] = number
	}
	return all
}

// increase is a series and the amount by which the requests of TestMetrics must increase it.
type increase struct {
	name, labels string
	by           float64
}

// expectedIncreases lists the increases that the requests of TestMetrics cause. The requests use PodTemplates, which no
// other test uses.
var expectedIncreases = []increase{
	{"apiserver_request_total", `code="201",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="POST",version="v1"`, 1},
	{"apiserver_request_total", `code="201",component="apiserver",dry_run="All",group="",resource="podtemplates",scope="resource",subresource="",verb="POST",version="v1"`, 1},
	{"apiserver_request_total", `code="422",component="apiserver",dry_run="invalid",group="",resource="podtemplates",scope="resource",subresource="",verb="POST",version="v1"`, 1},
	{"apiserver_request_total", `code="409",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="POST",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="GET",version="v1"`, 1},
	{"apiserver_request_total", `code="404",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="GET",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="namespace",subresource="",verb="LIST",version="v1"`, 2},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="cluster",subresource="",verb="LIST",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="namespace",subresource="",verb="WATCH",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="cluster",subresource="",verb="WATCH",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="WATCH",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="APPLY",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="PATCH",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="PUT",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="DELETE",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="apiserver",dry_run="",group="",resource="podtemplates",scope="namespace",subresource="",verb="DELETE",version="v1"`, 1},
	{"apiserver_request_total", `code="504",component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="GET",version="v1"`, 1},
	{"apiserver_request_total", `code="200",component="",dry_run="",group="",resource="",scope="",subresource="/livez",verb="GET",version=""`, 1},
	{"apiserver_request_duration_seconds_count", `component="apiserver",dry_run="",group="",resource="podtemplates",scope="namespace",subresource="",verb="WATCH",version="v1"`, 1},
	{"apiserver_request_duration_seconds_count", `component="apiserver",dry_run="",group="",resource="podtemplates",scope="resource",subresource="",verb="APPLY",version="v1"`, 1},
	{"apiserver_request_sli_duration_seconds_count", `component="apiserver",group="",resource="podtemplates",scope="resource",subresource="",verb="APPLY",version="v1"`, 1},
	{"apiserver_request_sli_duration_seconds_count", `component="apiserver",group="",resource="podtemplates",scope="namespace",subresource="",verb="WATCH",version="v1"`, 0},
	{"apiserver_response_sizes_count", `component="apiserver",group="",resource="podtemplates",scope="resource",subresource="",verb="GET",version="v1"`, 3},
	{"apiserver_response_sizes_count", `component="apiserver",group="",resource="podtemplates",scope="namespace",subresource="",verb="LIST",version="v1"`, 2},
	{"apiserver_response_sizes_count", `component="apiserver",group="",resource="podtemplates",scope="namespace",subresource="",verb="WATCH",version="v1"`, 1},
	{"apiserver_response_sizes_count", `component="apiserver",group="",resource="podtemplates",scope="resource",subresource="",verb="PUT",version="v1"`, 0},
	{"apiserver_watch_events_total", `group="",resource="podtemplates",version="v1"`, 3},
	{"apiserver_watch_events_sizes_count", `group="",resource="podtemplates",version="v1"`, 3},
	{"apiserver_init_events_total", `group="",resource="podtemplates"`, 3},
	{"apiserver_longrunning_requests", `component="apiserver",group="",resource="podtemplates",scope="namespace",subresource="",verb="WATCH",version="v1"`, 0},
	{"apiserver_requested_deprecated_apis", `group="",removed_release="",resource="endpoints",subresource="",version="v1"`, 1},
	{"apiserver_request_terminations_total", `code="504",component="apiserver",group="",resource="podtemplates",scope="resource",subresource="",verb="GET",version="v1"`, 0},
}

// TestMetrics checks that requests increase the same series as in kube-apiserver.
func TestMetrics(t *testing.T) {
	s, namespace := connect(t), target.Namespace(t)
	all := "/api/v1/namespaces/" + namespace + "/podtemplates"
	const body = `{"apiVersion":"v1","kind":"PodTemplate","metadata":{"name":"a"},"template":{"spec":{"containers":[{"name":"c","image":"i"}]}}}`
	before := s.series(t)
	s.must(t, 201, "POST", all, body)
	s.must(t, 409, "POST", all, body)
	s.must(t, 201, "POST", all+"?dryRun=All", strings.Replace(body, `"a"`, `"b"`, 1))
	s.must(t, 422, "POST", all+"?dryRun=Some", body)
	s.must(t, 200, "GET", all+"/a", "")
	s.must(t, 404, "GET", all+"/none", "")
	s.must(t, 504, "GET", all+"/a?resourceVersion=99999999", "")
	s.must(t, 200, "GET", all, "")
	s.must(t, 200, "GET", all+"?labelSelector=a", "")
	s.must(t, 200, "GET", "/api/v1/podtemplates", "")
	var watches sync.WaitGroup
	for _, path := range []string{all + "?watch=1", "/api/v1/podtemplates?watch=1", "/api/v1/watch/namespaces/" + namespace + "/podtemplates/a?"} {
		watches.Go(func() { s.call(t, "GET", path+"&timeoutSeconds=4", "") })
	}
	watches.Wait()
	s.must(t, 200, "PATCH application/apply-patch+yaml", all+"/a?fieldManager=m", `{"apiVersion":"v1","kind":"PodTemplate","metadata":{"name":"a","labels":{"l":"1"}}}`)
	s.must(t, 200, "PATCH application/merge-patch+json", all+"/a", `{"metadata":{"labels":{"l":"2"}}}`)
	s.must(t, 200, "PUT", all+"/a", body)
	s.must(t, 200, "DELETE", all+"/a", "")
	s.must(t, 200, "DELETE", all, "")
	s.must(t, 200, "GET", "/api/v1/namespaces/"+namespace+"/endpoints", "")
	s.must(t, 200, "GET", "/livez", "")
	after := s.series(t)
	for _, c := range expectedIncreases {
		key := c.name + "{" + c.labels + "}"
		by := after[key] - before[key]
		if strings.HasPrefix(c.name, "apiserver_requested_") {
			by = after[key] // a gauge, which another test may have set before, is compared by its value
		}
		if by != c.by {
			t.Errorf("%s increased by %v, want %v", key, by, c.by)
		}
	}
}
