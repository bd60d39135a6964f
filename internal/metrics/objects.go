package metrics

import (
	"iter"

	"github.com/prometheus/client_golang/prometheus"
)

// ObjectCount is the number of objects of a resource. Group is "" for the core group.
type ObjectCount struct {
	Group, Resource string
	Objects         int
}

// CountObjects sets the function that returns the number of objects of each resource. Every scrape calls the function.
// CountObjects must be called at most once.
func (m *Metrics) CountObjects(counts func() iter.Seq[ObjectCount]) {
	m.registry.MustRegister(objectCollector{counts})
}

// objectCollector is a Prometheus collector that reports the number of objects of each resource on each scrape.
type objectCollector struct{ counts func() iter.Seq[ObjectCount] }

// storageObjects and resourceObjects describe the metrics that objectCollector reports.
var (
	storageObjects = prometheus.NewDesc("apiserver_storage_objects",
		"Number of objects, by RESOURCE.GROUP; apiserver_resource_objects has separate labels.", []string{"resource"}, nil)
	resourceObjects = prometheus.NewDesc("apiserver_resource_objects", "Number of objects, by group and resource.", groupLabels, nil)
)

// Describe implements prometheus.Collector.
func (c objectCollector) Describe(out chan<- *prometheus.Desc) {
	out <- storageObjects
	out <- resourceObjects
}

// Collect implements prometheus.Collector.
func (c objectCollector) Collect(out chan<- prometheus.Metric) {
	for count := range c.counts() {
		full := count.Resource
		if count.Group != "" {
			full += "." + count.Group
		}
		out <- prometheus.MustNewConstMetric(storageObjects, prometheus.GaugeValue, float64(count.Objects), full)
		out <- prometheus.MustNewConstMetric(resourceObjects, prometheus.GaugeValue, float64(count.Objects), count.Group, count.Resource)
	}
}
