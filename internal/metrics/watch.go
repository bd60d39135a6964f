package metrics

import "github.com/prometheus/client_golang/prometheus"

// Watched counts the events of one kind in one version that watches send.
type Watched struct {
	initial prometheus.Counter
	events  prometheus.Counter
	sizes   prometheus.Observer
}

// Watched returns what a watch counts on. A watch asks for it once, when it begins.
func (m *Metrics) Watched(group, version, resource string) Watched {
	return Watched{
		initial: m.families.initEvents.WithLabelValues(group, resource),
		events:  m.families.watchEvents.WithLabelValues(group, version, resource),
		sizes:   m.families.watchSizes.WithLabelValues(group, version, resource),
	}
}

// Initial counts the events that a watch begins with. They are counted by Sent as well.
func (w Watched) Initial(events int) { w.initial.Add(float64(events)) }

// Sent counts an event that a watch sent.
func (w Watched) Sent(bytes int) {
	w.events.Inc()
	w.sizes.Observe(float64(bytes))
}
