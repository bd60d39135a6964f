package metrics

import (
	"strconv"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// An Endpoint counts the requests of one kind. To keep one costs little; its series are made when
// they first have something to count.
type Endpoint struct {
	request  Request
	families *families

	making      sync.Mutex // held while series are made
	answered    atomic.Pointer[answered]
	codes       atomic.Pointer[[]codeCounter] // replaced, not changed
	longRunning atomic.Pointer[prometheus.Gauge]
	dropped     atomic.Pointer[prometheus.Counter]
	deprecated  atomic.Bool
}

// answered are the series that do not depend on the code. Those that do not apply are nil.
type answered struct {
	durations, sli, sizes prometheus.Observer
}

// A codeCounter counts answers of one code. An endpoint has a few, so that going through them is the
// fastest way to find one.
type codeCounter struct {
	code    int
	counter prometheus.Counter
}

// Endpoint returns the endpoint of the requests of a kind, always the same one.
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

// Done counts a request that was answered with a code and so many bytes. A watch is done when it ends.
func (e *Endpoint) Done(code int, took time.Duration, bytes int) {
	e.counter(code).Inc()
	a := e.answered.Load()
	if a == nil {
		a = e.makeAnswered()
	}
	seconds := took.Seconds()
	a.durations.Observe(seconds)
	if a.sli != nil {
		a.sli.Observe(seconds)
	}
	if a.sizes != nil {
		a.sizes.Observe(float64(bytes))
	}
}

// LongRunning counts a request that goes on, such as a watch: 1 when it begins, -1 when it ends.
func (e *Endpoint) LongRunning(change int) {
	g := e.longRunning.Load()
	if g == nil {
		made := e.families.longRunning.WithLabelValues(e.request.short()...)
		g = &made
		e.longRunning.Store(g) // the vector gives everybody the same gauge
	}
	(*g).Add(float64(change))
}

// Terminated counts a request that the server ended or refused to protect itself: too many at once,
// or too slow, or nobody waits for it any more. It is counted by Done as well.
func (e *Endpoint) Terminated(code int) {
	e.families.terminations.WithLabelValues(append(e.request.short(), strconv.Itoa(code))...).Inc()
}

// WithoutManagedFields counts a request whose answer leaves out managedFields.
func (e *Endpoint) WithoutManagedFields() {
	c := e.dropped.Load()
	if c == nil {
		made := e.families.dropped.WithLabelValues(e.request.short()...)
		c = &made
		e.dropped.Store(c) // the vector gives everybody the same counter
	}
	(*c).Inc()
}

// Deprecated notes that a deprecated API was asked for, with the release that removes it, if that is
// known.
func (e *Endpoint) Deprecated(removedRelease string) {
	if e.deprecated.Load() {
		return
	}
	r := e.request
	e.families.deprecated.WithLabelValues(r.Group, r.Version, r.Resource, r.Subresource, removedRelease).Set(1)
	e.deprecated.Store(true)
}

// counter finds the counter of a code, and makes it if it is the first.
func (e *Endpoint) counter(code int) prometheus.Counter {
	if c := find(e.codes.Load(), code); c != nil {
		return c
	}
	e.making.Lock()
	defer e.making.Unlock()
	known := e.codes.Load()
	if c := find(known, code); c != nil {
		return c
	}
	c := e.families.requests.WithLabelValues(append(e.request.long(), strconv.Itoa(code))...)
	more := []codeCounter{{code, c}}
	if known != nil {
		more = append(more, *known...)
	}
	e.codes.Store(&more)
	return c
}

func find(codes *[]codeCounter, code int) prometheus.Counter {
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

// makeAnswered may run twice at once: the vectors give everybody the same series.
func (e *Endpoint) makeAnswered() *answered {
	r, f := e.request, e.families
	a := &answered{durations: f.durations.WithLabelValues(r.long()...)}
	if r.DryRun == NoDryRun && r.Verb != Watch {
		a.sli = f.sli.WithLabelValues(r.short()...)
	}
	if r.Verb.hasSize() {
		a.sizes = f.responses.WithLabelValues(r.short()...)
	}
	e.answered.Store(a)
	return a
}

// long are the values of requestLabels.
func (r Request) long() []string {
	return []string{string(r.Verb), string(r.DryRun), r.Group, r.Version, r.Resource, r.Subresource, string(r.Scope), r.component()}
}

// short are the values of shortLabels.
func (r Request) short() []string {
	return []string{string(r.Verb), r.Group, r.Version, r.Resource, r.Subresource, string(r.Scope), r.component()}
}
