package metrics

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Endpoint records the metrics of requests with equal labels. It is safe for concurrent use. Each series is created when it is
// first used.
type Endpoint struct {
	request  Request
	families *families

	adding      sync.Mutex // held while a counter is added to codes
	completed   atomic.Pointer[completed]
	codes       atomic.Pointer[[]codeCounter] // the slice is not modified, but replaced by a longer copy
	longRunning atomic.Pointer[prometheus.Gauge]
	dropped     atomic.Pointer[prometheus.Counter]
	deprecated  atomic.Bool
}

// completed holds those series for completed requests that have no label for the status code. sli is nil for dry runs and
// watches, because they are not part of the SLI; sizes is nil for writes.
type completed struct {
	durations, sli, sizes prometheus.Observer
}

// codeCounter counts the responses with the status code code. An endpoint has few codes, so a linear search is faster than a
// map.
type codeCounter struct {
	code    int
	counter prometheus.Counter
}

// Endpoint returns the Endpoint for requests with the given labels. Calls with equal labels return the same Endpoint.
func (m *Metrics) Endpoint(r Request) *Endpoint {
	m.lock.RLock()
	e := m.endpoints[r]
	m.lock.RUnlock()
	if e != nil {
		return e
	}
	m.lock.Lock()
	defer m.lock.Unlock()
	if e = m.endpoints[r]; e == nil {
		e = &Endpoint{request: r, families: &m.families}
		m.endpoints[r] = e
	}
	return e
}

// Done counts a completed request with its status code, its duration and the size of its response in bytes. A watch is
// completed when it ends.
func (e *Endpoint) Done(code int, took time.Duration, bytes int) {
	e.counter(code).Inc()
	c := e.completed.Load()
	if c == nil {
		c = e.makeCompleted()
	}
	seconds := took.Seconds()
	c.durations.Observe(seconds)
	if c.sli != nil {
		c.sli.Observe(seconds)
	}
	if c.sizes != nil {
		c.sizes.Observe(float64(bytes))
	}
}

// LongRunning adds change to the number of long-running requests, such as watches: +1 when a request starts, -1 when it ends.
func (e *Endpoint) LongRunning(change int) {
	g := e.longRunning.Load()
	if g == nil {
		made := e.families.longRunning.WithLabelValues(e.request.shortLabelValues()...)
		g = &made
		e.longRunning.Store(g) // concurrent calls store the same gauge, because Prometheus has one per label values
	}
	(*g).Add(float64(change))
}

// Terminated counts a request that the server rejected because too many were in flight, or ended because it timed out. The
// caller calls Done for the request as well.
func (e *Endpoint) Terminated(code int) {
	e.families.terminations.WithLabelValues(append(e.request.shortLabelValues(), strconv.Itoa(code))...).Inc()
}

// WithoutManagedFields counts a response from which managedFields are omitted at the request of the client.
func (e *Endpoint) WithoutManagedFields() {
	c := e.dropped.Load()
	if c == nil {
		made := e.families.dropped.WithLabelValues(e.request.shortLabelValues()...)
		c = &made
		e.dropped.Store(c) // concurrent calls store the same counter, because Prometheus has one per label values
	}
	(*c).Inc()
}

// Self counts a completed request of the server's own user.
func (e *Endpoint) Self() {
	r := e.request
	e.families.self.WithLabelValues(string(r.Verb), r.Group, r.Resource, r.Subresource).Inc()
}

// Deprecated records that a deprecated API was requested. removedRelease is the release that removes the API, "" if it is
// unknown.
func (e *Endpoint) Deprecated(removedRelease string) {
	if e.deprecated.Load() {
		return
	}
	r := e.request
	e.families.deprecated.WithLabelValues(r.Group, r.Version, r.Resource, r.Subresource, removedRelease).Set(1)
	e.deprecated.Store(true)
}

// counter returns the counter for the status code code. It creates the counter if there is none.
func (e *Endpoint) counter(code int) prometheus.Counter {
	if c := findCounter(e.codes.Load(), code); c != nil {
		return c
	}
	e.adding.Lock()
	defer e.adding.Unlock()
	codes := e.codes.Load()
	if c := findCounter(codes, code); c != nil {
		return c
	}
	c := e.families.requests.WithLabelValues(append(e.request.longLabelValues(), strconv.Itoa(code))...)
	more := []codeCounter{{code, c}}
	if codes != nil {
		more = append(more, *codes...)
	}
	e.codes.Store(&more)
	return c
}

// findCounter returns the counter for code in codes; nil if there is none.
func findCounter(codes *[]codeCounter, code int) prometheus.Counter {
	if codes == nil {
		return nil
	}
	for i := range *codes {
		if c := &(*codes)[i]; c.code == code {
			return c.counter
		}
	}
	return nil
}

// makeCompleted creates the series of completed, stores them and returns them. Concurrent calls are harmless, because
// Prometheus returns the same series to each.
func (e *Endpoint) makeCompleted() *completed {
	r, f := e.request, e.families
	c := &completed{durations: f.durations.WithLabelValues(r.longLabelValues()...)}
	if r.DryRun == NoDryRun && r.Verb != Watch {
		c.sli = f.sli.WithLabelValues(r.shortLabelValues()...)
	}
	if r.Verb.hasSize() {
		c.sizes = f.responses.WithLabelValues(r.shortLabelValues()...)
	}
	e.completed.Store(c)
	return c
}

// longLabelValues returns the values of the labels in requestLabels, in the order of requestLabels.
func (r Request) longLabelValues() []string {
	return []string{string(r.Verb), string(r.DryRun), r.Group, r.Version, r.Resource, r.Subresource, string(r.Scope), r.component()}
}

// shortLabelValues returns the values of the labels in shortLabels, in the order of shortLabels.
func (r Request) shortLabelValues() []string {
	return []string{string(r.Verb), r.Group, r.Version, r.Resource, r.Subresource, string(r.Scope), r.component()}
}
