package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// InFlight counts the requests in flight. The number changes faster than it is scraped, so the reported value is its maximum in
// the last full second, as in Kubernetes. It is safe for concurrent use.
type InFlight struct {
	now func() time.Time

	lock    sync.Mutex
	current int   // the number of requests in flight now
	second  int64 // the Unix time, in seconds, to which peak applies
	peak    int   // the maximum number of requests in flight during second
	last    int   // the maximum number of requests in flight during the previous second
}

// newInFlight returns a counter that takes the current time from now, which is time.Now except in tests.
func newInFlight(now func() time.Time) *InFlight { return &InFlight{now: now} }

// Add adds change to the number of requests in flight: +1 when a request starts, -1 when it ends.
func (f *InFlight) Add(change int) {
	now := f.now().Unix()
	f.lock.Lock()
	defer f.lock.Unlock()
	f.advanceTo(now)
	f.current += change
	f.peak = max(f.peak, f.current)
}

// Peak returns the maximum number of requests in flight during the last full second.
func (f *InFlight) Peak() int {
	now := f.now().Unix()
	f.lock.Lock()
	defer f.lock.Unlock()
	f.advanceTo(now)
	return f.last
}

// advanceTo starts a new period if unixSecond, the current time, is after the second of the current period. If full seconds
// have passed without a call, the number of requests in flight was constant during them, so their maximum is that number.
func (f *InFlight) advanceTo(unixSecond int64) {
	switch passed := unixSecond - f.second; {
	case passed <= 0: // unixSecond is the second of the current period, or the clock was set back
		return
	case passed == 1:
		f.last = f.peak
	default:
		f.last = f.current
	}
	f.second, f.peak = unixSecond, f.current
}

// inFlightCollector is a Prometheus collector that reports the peaks of requests in flight on each scrape, by request_kind.
type inFlightCollector struct {
	description *prometheus.Desc
	kinds       map[string]*InFlight
}

// The metrics that inFlightCollector reports.
var (
	inFlightDescription = prometheus.NewDesc("apiserver_current_inflight_requests",
		"Peak number of requests in flight in the last second, mutating or read-only.", []string{"request_kind"}, nil)
	inQueueDescription = prometheus.NewDesc("apiserver_current_inqueue_requests",
		"Peak number of requests in queues in the last second, mutating or read-only.", []string{"request_kind"}, nil)
)

// Describe implements prometheus.Collector.
func (c inFlightCollector) Describe(out chan<- *prometheus.Desc) { out <- c.description }

// Collect implements prometheus.Collector.
func (c inFlightCollector) Collect(out chan<- prometheus.Metric) {
	for kind, f := range c.kinds {
		out <- prometheus.MustNewConstMetric(c.description, prometheus.GaugeValue, float64(f.Peak()), kind)
	}
}
