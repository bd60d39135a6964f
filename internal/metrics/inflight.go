package metrics

import (
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// InFlight is how many requests are at work. As that changes faster than anybody scrapes, what is
// shown is the most that there were at once in the last whole second.
type InFlight struct {
	now func() time.Time

	lock    sync.Mutex
	current int
	second  int64 // in which peak is counted
	peak    int   // most in that second
	last    int   // most in the second before
}

func newInFlight(now func() time.Time) *InFlight { return &InFlight{now: now} }

// Enter counts a request that begins and returns how many there are with it.
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

// Peak is the most that there were at once in the last whole second.
func (f *InFlight) Peak() int {
	now := f.now().Unix()
	f.lock.Lock()
	defer f.lock.Unlock()
	f.turn(now)
	return f.last
}

// turn begins a new second. Seconds in which nobody came or went had as many as there are.
func (f *InFlight) turn(now int64) {
	switch passed := now - f.second; {
	case passed <= 0: // the same, or the clock was set back
		return
	case passed == 1:
		f.last = f.peak
	default:
		f.last = f.current
	}
	f.second, f.peak = now, f.current
}

// inFlightCollector reads the peaks when they are asked for: no goroutine has to.
type inFlightCollector struct{ kinds map[string]*InFlight }

var inFlightDescription = prometheus.NewDesc("apiserver_current_inflight_requests",
	"The most requests that were at work at once in the last second, by whether they may change anything.", []string{"request_kind"}, nil)

// Describe implements prometheus.Collector.
func (c inFlightCollector) Describe(out chan<- *prometheus.Desc) { out <- inFlightDescription }

// Collect implements prometheus.Collector.
func (c inFlightCollector) Collect(out chan<- prometheus.Metric) {
	for kind, f := range c.kinds {
		out <- prometheus.MustNewConstMetric(inFlightDescription, prometheus.GaugeValue, float64(f.Peak()), kind)
	}
}
