package metrics

import "github.com/prometheus/client_golang/prometheus"

// Names of the labels of metrics. Calls of WithLabelValues pass the values of the labels in the order of the names.
var (
	requestLabels    = []string{"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"}
	shortLabels      = []string{"verb", "group", "version", "resource", "subresource", "scope", "component"}
	kindLabels       = []string{"group", "version", "resource"}
	deprecatedLabels = []string{"group", "version", "resource", "subresource", "removed_release"}
	groupLabels      = []string{"group", "resource"}
	hookLabels       = []string{"name", "type", "operation", "rejected"}
	conditionLabels  = []string{"name", "kind", "type", "operation"}
	policyLabels     = []string{"policy", "policy_binding", "error_type", "enforcement_action"}
	mutationLabels   = []string{"policy", "policy_binding", "error_type"}
)

// Upper bounds of histogram buckets: bytes in responseBuckets and eventBuckets, seconds in all others.
var (
	sliBuckets = []float64{0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}
	// durationBuckets contains, in addition to sliBuckets, two buckets for shorter durations.
	durationBuckets  = append([]float64{0.005, 0.025}, sliBuckets...)
	responseBuckets  = prometheus.ExponentialBuckets(1000, 10, 7)
	eventBuckets     = prometheus.ExponentialBuckets(1024, 2, 8)
	hookBuckets      = []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25}
	conditionBuckets = []float64{0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}
	policyBuckets    = []float64{0.0000005, 0.001, 0.01, 0.1, 1.0}
	// commitBuckets range from 64 µs, which is typical of a store in memory, to 1 s, which indicates an overloaded disk.
	commitBuckets = prometheus.ExponentialBuckets(64e-6, 2, 15)
)

// Family describes a metric. Type is counter, gauge or histogram.
type Family struct{ Name, Type, Help string }

// families holds the counters, gauges and histograms of a server, except the numbers of objects and of requests in flight,
// which are collected on scrape.
type families struct {
	all []Family

	requests     *prometheus.CounterVec
	durations    *prometheus.HistogramVec
	sli          *prometheus.HistogramVec
	responses    *prometheus.HistogramVec
	longRunning  *prometheus.GaugeVec
	terminations *prometheus.CounterVec
	deprecated   *prometheus.GaugeVec
	handshakes   prometheus.Counter
	self         *prometheus.CounterVec
	features     *prometheus.GaugeVec

	initEvents  *prometheus.CounterVec
	watchEvents *prometheus.CounterVec
	watchSizes  *prometheus.HistogramVec

	hookTimes        *prometheus.HistogramVec
	hookRejections   *prometheus.CounterVec
	hookFailOpen     *prometheus.CounterVec
	hookRequests     *prometheus.CounterVec
	conditionErrors  *prometheus.CounterVec
	conditionMisses  *prometheus.CounterVec
	conditionTimes   *prometheus.HistogramVec
	policyChecks     *prometheus.CounterVec
	policyCheckTimes *prometheus.HistogramVec
	mutations        *prometheus.CounterVec
	mutationTimes    *prometheus.HistogramVec

	flows         flowFamilies
	configReloads [len(reloadPrefixes)]reloadFamilies

	entries     *prometheus.CounterVec
	dropped     *prometheus.CounterVec
	unset       *prometheus.CounterVec
	backups     *prometheus.CounterVec
	backupTime  *prometheus.GaugeVec
	reloads     *prometheus.CounterVec
	reloadTime  *prometheus.GaugeVec
	commits     *prometheus.CounterVec
	commitTimes prometheus.Histogram
}

// newFamilies creates all metrics and adds them to a Prometheus registry.
func newFamilies(registry *prometheus.Registry) families {
	r := &registrar{registry: registry}
	f := families{
		requests: r.counters("apiserver_request_total",
			"Completed requests, by verb, resource and HTTP status code.", append(requestLabels[:8:8], "code")),
		durations: r.histograms("apiserver_request_duration_seconds",
			"Duration of requests, of watches until they end.", requestLabels, durationBuckets),
		sli: r.histograms("apiserver_request_sli_duration_seconds",
			"Duration of requests that are neither dry runs nor watches.", shortLabels, sliBuckets),
		responses: r.histograms("apiserver_response_sizes",
			"Size of the responses to reads, in bytes.", shortLabels, responseBuckets),
		longRunning: r.gauges("apiserver_longrunning_requests",
			"Long-running requests, such as watches, that are active.", shortLabels),
		terminations: r.counters("apiserver_request_terminations_total",
			"Requests that the server rejected or ended to protect itself.", append(shortLabels[:7:7], "code")),
		deprecated: r.gauges("apiserver_requested_deprecated_apis",
			"1 for each deprecated API that was requested, with the release that removes it.", deprecatedLabels),
		self: r.counters("apiserver_selfrequest_total",
			"Completed requests of the server's own user, system:apiserver.", []string{"verb", "group", "resource", "subresource"}),
		features: r.gauges("kubernetes_feature_enabled",
			"1 for each feature gate that is enabled, 0 for others, with the stage of the feature.", []string{"name", "stage"}),
		handshakes: r.counter("apiserver_tls_handshake_errors_total", "Connections that failed in the TLS handshake."),

		initEvents: r.counters("apiserver_init_events_total",
			"Initial events of watches.", groupLabels),
		watchEvents: r.counters("apiserver_watch_events_total", "Events sent to watches.", kindLabels),
		watchSizes: r.histograms("apiserver_watch_events_sizes",
			"Size of the events sent to watches, in bytes.", kindLabels, eventBuckets),

		hookTimes: r.histograms("apiserver_admission_webhook_admission_duration_seconds",
			"Duration of webhook calls, by name, type and operation.", hookLabels, hookBuckets),
		hookRejections: r.counters("apiserver_admission_webhook_rejection_count",
			"Requests that were rejected because of a webhook: by its verdict, or because the call failed.", []string{"name", "type", "operation", "error_type", "rejection_code"}),
		hookFailOpen: r.counters("apiserver_admission_webhook_fail_open_count",
			"Failed calls of webhooks with failurePolicy Ignore.", []string{"name", "type"}),
		hookRequests: r.counters("apiserver_admission_webhook_request_total",
			"Webhook calls, by HTTP status code. Codes above 600 count as 600.", []string{"name", "type", "operation", "code", "rejected"}),
		conditionErrors: r.counters("apiserver_admission_match_condition_evaluation_errors_total",
			"Match conditions of webhooks and policies that failed to evaluate.", conditionLabels),
		conditionMisses: r.counters("apiserver_admission_match_condition_exclusions_total",
			"Requests that a webhook or policy does not handle because of a match condition.", conditionLabels),
		conditionTimes: r.histograms("apiserver_admission_match_condition_evaluation_seconds",
			"Duration of the evaluation of match conditions of webhooks and policies.", conditionLabels, conditionBuckets),
		policyChecks: r.counters("apiserver_validating_admission_policy_check_total",
			"Policy validations that failed, by enforcement action.", policyLabels),
		policyCheckTimes: r.histograms("apiserver_validating_admission_policy_check_duration_seconds",
			"Duration of policy validations that failed.", policyLabels, policyBuckets),
		mutations: r.counters("apiserver_mutating_admission_policy_check_total",
			"Evaluations of the mutations of policies, by binding and type of error.", mutationLabels),
		mutationTimes: r.histograms("apiserver_mutating_admission_policy_check_duration_seconds",
			"Duration of the evaluation of a mutation of a policy.", mutationLabels, policyBuckets),

		flows:         newFlowFamilies(r),
		configReloads: newReloadFamilies(r),

		entries: r.counters("cadastre_managed_fields_entries_total",
			"Managed fields entries that were repaired, dropped, kept although they should have changed, or reduced because a changed schema lacks fields.", []string{"outcome"}),
		dropped: r.counters("cadastre_managed_fields_dropped_requests_total",
			"Requests whose responses omit managedFields at the request of the client.", shortLabels),
		unset: r.counters("cadastre_unset_applies_total",
			"Apply requests whose configuration contains unset markers.", []string{"group", "version", "resource", "subresource"}),
		backups:    r.counters("cadastre_backups_total", "Scheduled backups, by result.", []string{"result"}),
		backupTime: r.gauges("cadastre_backup_last_success_timestamp_seconds", "Time of the last successful scheduled backup.", nil),
		reloads: r.counters("apiserver_encryption_config_controller_automatic_reloads_total",
			"Reloads of the encryption configuration, by status.", []string{"status"}),
		reloadTime: r.gauges("apiserver_encryption_config_controller_automatic_reload_last_timestamp_seconds",
			"Time of the last reload of the encryption configuration, by status.", []string{"status"}),
		commits: r.counters("cadastre_store_commits_total", "Commits to the store, by result.", []string{"result"}),
		commitTimes: r.histogram("cadastre_store_commit_duration_seconds",
			"Duration of commits to the store, until they are durable and visible to reads.", commitBuckets),
	}
	f.all = r.registered
	return f
}

// registrar creates metrics, adds them to a Prometheus registry, and lists their descriptions.
type registrar struct {
	registry   *prometheus.Registry
	registered []Family
}

// add adds the metric c to the Prometheus registry and its description to registered. Unlike a scrape, registered includes
// metrics without a series.
func (r *registrar) add(c prometheus.Collector, name, kind, help string) {
	r.registry.MustRegister(c)
	r.registered = append(r.registered, Family{Name: name, Type: kind, Help: help})
}

func (r *registrar) counter(name, help string) prometheus.Counter {
	c := prometheus.NewCounter(prometheus.CounterOpts{Name: name, Help: help})
	r.add(c, name, "counter", help)
	return c
}

func (r *registrar) counters(name, help string, labels []string) *prometheus.CounterVec {
	c := prometheus.NewCounterVec(prometheus.CounterOpts{Name: name, Help: help}, labels)
	r.add(c, name, "counter", help)
	return c
}

func (r *registrar) gauges(name, help string, labels []string) *prometheus.GaugeVec {
	g := prometheus.NewGaugeVec(prometheus.GaugeOpts{Name: name, Help: help}, labels)
	r.add(g, name, "gauge", help)
	return g
}

func (r *registrar) histogram(name, help string, buckets []float64) prometheus.Histogram {
	h := prometheus.NewHistogram(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets})
	r.add(h, name, "histogram", help)
	return h
}

func (r *registrar) histograms(name, help string, labels []string, buckets []float64) *prometheus.HistogramVec {
	h := prometheus.NewHistogramVec(prometheus.HistogramOpts{Name: name, Help: help, Buckets: buckets}, labels)
	r.add(h, name, "histogram", help)
	return h
}
