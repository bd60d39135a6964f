package metrics

import "github.com/prometheus/client_golang/prometheus"

// Watched has the metrics of the watches of a resource at a version.
type Watched struct {
	initial prometheus.Counter
	events  prometheus.Counter
	sizes   prometheus.Observer
}

// Watched returns the metrics of a watch.
func (m *Metrics) Watched(group, version, resource string) Watched {
	return Watched{
		initial: m.families.initEvents.WithLabelValues(group, resource),
		events:  m.families.watchEvents.WithLabelValues(group, version, resource),
		sizes:   m.families.watchSizes.WithLabelValues(group, version, resource),
	}
}

// Initial counts the initial events of a watch. Sent counts them, too.
func (w Watched) Initial(events int) { w.initial.Add(float64(events)) }

// Sent counts an event that a watch sent.
func (w Watched) Sent(bytes int) {
	w.events.Inc()
	w.sizes.Observe(float64(bytes))
}
