package metrics

import "github.com/prometheus/client_golang/prometheus"

// Backup counts a scheduled backup, which failed if err is not nil.
func (m *Metrics) Backup(err error) {
	if err != nil {
		m.families.backups.WithLabelValues("failed").Inc()
		return
	}
	m.families.backups.WithLabelValues("written").Inc()
	m.families.backupTime.WithLabelValues().SetToCurrentTime()
}

// EncryptionReload counts a reload of the encryption configuration, which failed if err is not nil.
func (m *Metrics) EncryptionReload(err error) {
	status := "success"
	if err != nil {
		status = "failure"
	}
	m.families.reloads.WithLabelValues(status).Inc()
	m.families.reloadTime.WithLabelValues(status).SetToCurrentTime()
}

// StoreSpace is the use of the disk by the store, in bytes. Free is negative if it is unknown. Alarm reports whether the store
// rejects creations because of a lack of space.
type StoreSpace struct {
	Used, Free int64
	Alarm      bool
}

// MeasureStore sets the function that returns the use of the disk. Every scrape calls the function. MeasureStore must be called at
// most once.
func (m *Metrics) MeasureStore(measure func() StoreSpace) {
	m.registry.MustRegister(storeCollector{measure})
}

// storeCollector is a Prometheus collector that reports the use of the disk on each scrape.
type storeCollector struct{ measure func() StoreSpace }

// The metrics that storeCollector reports.
var (
	storeSize  = prometheus.NewDesc("cadastre_store_size_bytes", "Size of the files of the embedded store.", nil, nil)
	storeFree  = prometheus.NewDesc("cadastre_store_free_bytes", "Free space of the file system of the embedded store.", nil, nil)
	storeAlarm = prometheus.NewDesc("cadastre_store_out_of_space", "1 while the embedded store rejects creations because of a lack of space, 0 otherwise.", nil, nil)
)

// Describe implements prometheus.Collector.
func (c storeCollector) Describe(out chan<- *prometheus.Desc) {
	out <- storeSize
	out <- storeFree
	out <- storeAlarm
}

// Collect implements prometheus.Collector.
func (c storeCollector) Collect(out chan<- prometheus.Metric) {
	space := c.measure()
	out <- prometheus.MustNewConstMetric(storeSize, prometheus.GaugeValue, float64(space.Used))
	if space.Free >= 0 {
		out <- prometheus.MustNewConstMetric(storeFree, prometheus.GaugeValue, float64(space.Free))
	}
	alarm := 0.0
	if space.Alarm {
		alarm = 1
	}
	out <- prometheus.MustNewConstMetric(storeAlarm, prometheus.GaugeValue, alarm)
}
