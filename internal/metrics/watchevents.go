package metrics

import "github.com/prometheus/client_golang/prometheus"

// Watched records the metrics of watches of one resource at one API version.
type Watched struct {
	initial prometheus.Counter
	events  prometheus.Counter
	sizes   prometheus.Observer
}

// Watched returns the metrics for watches of the given resource. Each watch calls it once, when the watch starts.
func (m *Metrics) Watched(group, version, resource string) Watched {
	return Watched{
		initial: m.families.initEvents.WithLabelValues(group, resource),
		events:  m.families.watchEvents.WithLabelValues(group, version, resource),
		sizes:   m.families.watchSizes.WithLabelValues(group, version, resource),
	}
}

// Initial adds events to the number of initial events, which describe the state at the start of a watch. The caller calls Sent
// for each of these events as well.
func (w Watched) Initial(events int) { w.initial.Add(float64(events)) }

// Sent counts an event that was sent to the client of a watch, with its encoded size in bytes.
func (w Watched) Sent(bytes int) {
	w.events.Inc()
	w.sizes.Observe(float64(bytes))
}
