package metrics

import "github.com/prometheus/client_golang/prometheus"

// ReloadedConfig is a configuration file whose reloads kube-apiserver counts.
type ReloadedConfig int

// The configuration files.
const (
	AuthenticationConfig ReloadedConfig = iota
	AuthorizationConfig
)

// reloadPrefixes are the beginnings of the names of metrics.
var reloadPrefixes = [...]string{AuthenticationConfig: "apiserver_authentication_config_controller", AuthorizationConfig: "apiserver_authorization_config_controller"}

// reloadFamilies are the metrics of the reloads of a configuration file.
type reloadFamilies struct {
	total *prometheus.CounterVec
	last  *prometheus.GaugeVec
}

func newReloadFamilies(r *registrar) (all [len(reloadPrefixes)]reloadFamilies) {
	for i, prefix := range reloadPrefixes {
		all[i] = reloadFamilies{
			total: r.counters(prefix+"_automatic_reloads_total", "Reloads of the configuration after its file changed, by status.", []string{"status"}),
			last:  r.gauges(prefix+"_automatic_reload_last_timestamp_seconds", "Time of the last reload of the configuration, by status.", []string{"status"}),
		}
	}
	return all
}

// ReloadOf returns a function that records the result of a reload of a configuration file.
func (m *Metrics) ReloadOf(c ReloadedConfig) func(error) {
	return func(err error) {
		status := "success"
		if err != nil {
			status = "failure"
		}
		m.families.configReloads[c].total.WithLabelValues(status).Inc()
		m.families.configReloads[c].last.WithLabelValues(status).SetToCurrentTime()
	}
}
