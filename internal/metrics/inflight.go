package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// InFlight is the number of requests in flight. It changes faster than it is scraped, so the reported value is the peak of the
// last full second, as in Kubernetes. It is safe for concurrent use.
type InFlight struct {
	now func() time.Time

	lock    sync.Mutex
	current int
	second  int64 // the Unix time of peak
	peak    int   // the maximum in that second
	last    int   // the maximum in the second before
}

func newInFlight(now func() time.Time) *InFlight { return &InFlight{now: now} }

// Enter counts a request that starts, and returns the number of requests including it.
func (f *InFlight) Enter() int {
	now := f.now().Unix()
	f.lock.Lock()
	defer f.lock.Unlock()
	f.turn(now)
	f.current++
	f.peak = max(f.peak, f.current)
	return f.current
}

// Leave counts a request that ends.
func (f *InFlight) Leave() {
	now := f.now().Unix()
	f.lock.Lock()
	defer f.lock.Unlock()
	f.turn(now)
	f.current--
}

// Peak returns the maximum of the last full second.
func (f *InFlight) Peak() int {
	now := f.now().Unix()
	f.lock.Lock()
	defer f.lock.Unlock()
	f.turn(now)
	return f.last
}

// turn starts a new period if the clock is in another second. In seconds without calls the number of requests does not change.
func (f *InFlight) turn(now int64) {
	switch passed := now - f.second; {
	case passed <= 0: // the same second, or the clock was set back
		return
	case passed == 1:
		f.last = f.peak
	default:
		f.last = f.current
	}
	f.second, f.peak = now, f.current
}

// inFlightCollector collects the peaks on scrape.
type inFlightCollector struct{ kinds map[string]*InFlight }

var inFlightDescription = prometheus.NewDesc("apiserver_current_inflight_requests",
	"Peak number of requests in flight in the last second, mutating or read-only.", []string{"request_kind"}, nil)

// Describe implements prometheus.Collector.
func (c inFlightCollector) Describe(out chan<- *prometheus.Desc) { out <- inFlightDescription }

// Collect implements prometheus.Collector.
func (c inFlightCollector) Collect(out chan<- prometheus.Metric) {
	for kind, f := range c.kinds {
		out <- prometheus.MustNewConstMetric(inFlightDescription, prometheus.GaugeValue, float64(f.Peak()), kind)
	}
}
