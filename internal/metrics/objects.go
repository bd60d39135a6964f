package metrics

import (
	"iter"

	"github.com/prometheus/client_golang/prometheus"
)

// ObjectCount is how many objects of a resource there are. The group of the core is empty.
type ObjectCount struct {
	Group, Resource string
	Objects         int
}

// CountObjects has every scrape ask for the number of objects. It is called once.
func (m *Metrics) CountObjects(counts func() iter.Seq[ObjectCount]) {
	m.registry.MustRegister(objectCollector{counts})
}

type objectCollector struct{ counts func() iter.Seq[ObjectCount] }

var (
	storageObjects = prometheus.NewDesc("apiserver_storage_objects",
		"How many objects there are, by resource and group in one label; apiserver_resource_objects has two.", []string{"resource"}, nil)
	resourceObjects = prometheus.NewDesc("apiserver_resource_objects", "How many objects there are, by group and resource.", groupLabels, nil)
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
