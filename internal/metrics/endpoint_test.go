package metrics

import (
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"
)

// Labels of requests to deployments: an apply, a list, and a dry run of an update of the subresource status.
var (
	applying = Request{Group: "apps", Version: "v1", Resource: "deployments", Scope: ResourceScope, Verb: Apply}
	listing  = Request{Group: "apps", Version: "v1", Resource: "deployments", Scope: NamespaceScope, Verb: List}
	dryRun   = Request{Group: "apps", Version: "v1", Resource: "deployments", Subresource: "status", Scope: ResourceScope, Verb: Put, DryRun: DryRunAll}
)

// labels returns the labels with the given names in the notation of page.series. A name NAME=VALUE replaces the value in the
// request.
func (r Request) labels(names ...string) string {
	values := map[string]string{
		"component": "apiserver", "dry_run": string(r.DryRun), "group": r.Group, "resource": r.Resource, "scope": string(r.Scope),
		"subresource": r.Subresource, "verb": string(r.Verb), "version": r.Version,
	}
	var pairs []string
	for _, name := range names {
		key, value, given := strings.Cut(name, "=")
		if !given {
			value = values[key]
		}
		pairs = append(pairs, key+`=`+strconv.Quote(value))
	}
	return strings.Join(pairs, ",")
}

// shortNames are the names in shortLabels, in alphabetical order.
var shortNames = []string{"component", "group", "resource", "scope", "subresource", "verb", "version"}

// totalLabels returns the labels of the series of apiserver_request_total for the status code code.
func (r Request) totalLabels(code string) string {
	return r.labels("code="+code, "component", "dry_run", "group", "resource", "scope", "subresource", "verb", "version")
}

// TestEndpointDone checks that Done records the count by status code, the durations, and the sizes of the responses to reads.
func TestEndpointDone(t *testing.T) {
	m := New()
	m.Endpoint(applying).Done(201, time.Second, 900)
	m.Endpoint(applying).Done(200, time.Second/2, 900)
	m.Endpoint(applying).Done(200, time.Second/2, 900)
	m.Endpoint(applying).Done(409, time.Second, 900)
	m.Endpoint(listing).Done(200, 2*time.Second, 12345)
	m.Endpoint(dryRun).Done(200, 2*time.Second, 900)

	p := scrape(t, m)
	p.expect(t, "apiserver_request_total", applying.totalLabels("200"), 2)
	p.expect(t, "apiserver_request_total", applying.totalLabels("201"), 1)
	p.expect(t, "apiserver_request_total", applying.totalLabels("409"), 1)
	p.expect(t, "apiserver_request_total", listing.totalLabels("200"), 1)
	p.expect(t, "apiserver_request_total", dryRun.totalLabels("200"), 1)

	long := applying.labels("component", "dry_run", "group", "resource", "scope", "subresource", "verb", "version")
	p.expectHistogram(t, "apiserver_request_duration_seconds", long, 4, 3, []float64{0.005, 0.025, 0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,
		1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60})
	p.expectHistogram(t, "apiserver_request_sli_duration_seconds", applying.labels(shortNames...), 4, 3, []float64{0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1,
		1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60})
	p.expectHistogram(t, "apiserver_response_sizes", listing.labels(shortNames...), 1, 12345, []float64{1e3, 1e4, 1e5, 1e6, 1e7, 1e8, 1e9})
}

// TestUncountedRequests checks that the response sizes of writes and the SLI durations of dry runs are not recorded, and that
// an endpoint without requests has no series.
func TestUncountedRequests(t *testing.T) {
	m := New()
	m.Endpoint(listing) // an endpoint without requests
	m.Endpoint(dryRun).Done(200, time.Second, 900)
	p := scrape(t, m)
	for _, name := range []string{"apiserver_request_sli_duration_seconds", "apiserver_response_sizes", "apiserver_longrunning_requests"} {
		if p[name] != nil {
			t.Errorf("%s has the series %v, want none", name, p[name])
		}
	}
	if got := len(p["apiserver_request_total"].GetMetric()); got != 1 {
		t.Errorf("apiserver_request_total has %d series, want 1", got)
	}
}

func TestLongRunning(t *testing.T) {
	m := New()
	watching := listing
	watching.Verb = Watch
	e := m.Endpoint(watching)
	e.LongRunning(1)
	e.LongRunning(1)
	e.LongRunning(-1)
	scrape(t, m).expect(t, "apiserver_longrunning_requests", watching.labels(shortNames...), 1)
	e.Done(200, time.Minute, 5000)
	scrape(t, m).expectHistogram(t, "apiserver_response_sizes", watching.labels(shortNames...), 1, 5000, responseBuckets)
}

func TestTerminatedAndDeprecated(t *testing.T) {
	m := New()
	e := m.Endpoint(listing)
	e.Terminated(429)
	e.Terminated(429)
	e.Deprecated("1.40")
	e.Deprecated("1.40")
	p := scrape(t, m)
	p.expect(t, "apiserver_request_terminations_total", listing.labels(append([]string{"code=429"}, shortNames...)...), 2)
	p.expect(t, "apiserver_requested_deprecated_apis", listing.labels("group", "removed_release=1.40", "resource", "subresource", "version"), 1)
}

// TestConcurrentEndpoint checks that no request is lost when concurrent requests create the same series.
func TestConcurrentEndpoint(t *testing.T) {
	const goroutines, requests = 8, 200
	m := New()
	var all sync.WaitGroup
	for range goroutines {
		all.Go(func() {
			for i := range requests {
				e := m.Endpoint(listing)
				e.Done(200+i%4, 0, 1)
				e.LongRunning(1)
			}
		})
	}
	all.Wait()
	p := scrape(t, m)
	for code := 200; code < 204; code++ {
		p.expect(t, "apiserver_request_total", listing.totalLabels(strconv.Itoa(code)), goroutines*requests/4)
	}
	p.expect(t, "apiserver_longrunning_requests", listing.labels(shortNames...), goroutines*requests)
	p.expectHistogram(t, "apiserver_response_sizes", listing.labels(shortNames...), goroutines*requests, goroutines*requests, responseBuckets)
}

func TestVerbsAndScopes(t *testing.T) {
	for _, test := range []struct {
		action, namespace, name string
		verb                    Verb
		scope                   Scope
	}{
		{"get", "shop", "web", Get, ResourceScope},
		{"list", "shop", "", List, NamespaceScope},
		{"list", "", "", List, ClusterScope},
		{"watch", "shop", "web", Watch, ResourceScope},
		{"create", "shop", "", Post, ResourceScope},
		{"update", "", "node", Put, ResourceScope},
		{"patch", "shop", "web", Patch, ResourceScope},
		{"delete", "shop", "web", Delete, ResourceScope},
		{"deletecollection", "shop", "", Delete, NamespaceScope},
		{"juggle", "", "", Other, ClusterScope},
	} {
		if verb, scope := VerbOf(test.action), ScopeOf(test.action, test.namespace, test.name); verb != test.verb || scope != test.scope {
			t.Errorf("%s of %q/%q: got verb %s and scope %q, want %s and %q", test.action, test.namespace, test.name, verb, scope, test.verb, test.scope)
		}
	}
}

// TestRequestAllocations checks that recording the metrics of a request does not allocate after the series have been created.
func TestRequestAllocations(t *testing.T) {
	m := New()
	e, w := m.Endpoint(listing), m.Watched("apps", "v1", "deployments")
	for name, f := range requestParts(m, e, w) {
		f() // creates the series
		if got := testing.AllocsPerRun(100, f); got != 0 {
			t.Errorf("%s: %v allocations, want none", name, got)
		}
	}
}

// requestParts returns functions that record parts of the metrics of a request, by name.
func requestParts(m *Metrics, e *Endpoint, w Watched) map[string]func() {
	return map[string]func(){
		"Endpoint":    func() { m.Endpoint(listing) },
		"Done":        func() { e.Done(200, 3*time.Millisecond, 2000) },
		"codes":       func() { e.Done(404, 0, 0); e.Done(409, 0, 0) },
		"LongRunning": func() { e.LongRunning(1); e.LongRunning(-1) },
		"Deprecated":  func() { e.Deprecated("") },
		"InFlight":    func() { m.ReadOnly.Add(+1); m.ReadOnly.Add(-1) },
		"Sent":        func() { w.Sent(2000) },
		"Commit":      func() { m.Commit(Committed, time.Millisecond) },
		"request": func() {
			m.ReadOnly.Add(+1)
			m.Endpoint(listing).Done(200, 3*time.Millisecond, 2000)
			m.ReadOnly.Add(-1)
		},
	}
}

// BenchmarkRequest measures the functions of requestParts with concurrent calls.
func BenchmarkRequest(b *testing.B) {
	m := New()
	e, w := m.Endpoint(listing), m.Watched("apps", "v1", "deployments")
	parts := requestParts(m, e, w)
	var names []string
	for name := range parts {
		names = append(names, name)
	}
	slices.Sort(names)
	for _, name := range names {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					parts[name]()
				}
			})
		})
	}
}
