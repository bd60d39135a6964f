package metrics

import "github.com/prometheus/client_golang/prometheus"

// Labels, in the order in which values are given.
var (
	requestLabels    = []string{"verb", "dry_run", "group", "version", "resource", "subresource", "scope", "component"}
	shortLabels      = []string{"verb", "group", "version", "resource", "subresource", "scope", "component"}
	kindLabels       = []string{"group", "version", "resource"}
	deprecatedLabels = []string{"group", "version", "resource", "subresource", "removed_release"}
	groupLabels      = []string{"group", "resource"}
	hookLabels       = []string{"name", "type", "operation", "rejected"}
	conditionLabels  = []string{"name", "kind", "type", "operation"}
	policyLabels     = []string{"policy", "policy_binding", "error_type", "enforcement_action"}
)

// Buckets, in seconds and bytes.
var (
	sliBuckets = []float64{0.05, 0.1, 0.2, 0.4, 0.6, 0.8, 1, 1.25, 1.5, 2, 3, 4, 5, 6, 8, 10, 15, 20, 30, 45, 60}
	// durationBuckets begin earlier than sliBuckets.
	durationBuckets  = append([]float64{0.005, 0.025}, sliBuckets...)
	responseBuckets  = prometheus.ExponentialBuckets(1000, 10, 7)
	eventBuckets     = prometheus.ExponentialBuckets(1024, 2, 8)
	hookBuckets      = []float64{0.005, 0.025, 0.1, 0.5, 1, 2.5, 10, 25}
	conditionBuckets = []float64{0.001, 0.005, 0.01, 0.025, 0.1, 0.2, 0.25}
	policyBuckets    = []float64{0.0000005, 0.001, 0.01, 0.1, 1.0}
	// commitBuckets are from 64 µs, which is memory, to 1 s, which is a disk in trouble.
	commitBuckets = prometheus.ExponentialBuckets(64e-6, 2, 15)
)

// Family is a metric with all its labels.
type Family struct{ Name, Type, Help string }

// families are the metrics that count; objects and requests in flight are read when asked for.
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

	initEvents  *prometheus.CounterVec
	watchEvents *prometheus.CounterVec
	watchSizes  *prometheus.HistogramVec

	hookTimes        *prometheus.HistogramVec
	hookRejections   *prometheus.CounterVec
	hookFailOpen     *prometheus.CounterVec
	hookRequests     *prometheus.CounterVec
	conditionErrors  *prometheus.CounterVec
	conditionNos     *prometheus.CounterVec
	conditionTimes   *prometheus.HistogramVec
	policyChecks     *prometheus.CounterVec
	policyCheckTimes *prometheus.HistogramVec

	entries     *prometheus.CounterVec
	dropped     *prometheus.CounterVec
	commits     *prometheus.CounterVec
	commitTimes prometheus.Histogram
}

func newFamilies(registry *prometheus.Registry) families {
	r := &registrar{registry: registry}
	made := families{
		requests: r.counters("apiserver_request_total",
			"Requests that were answered, by what they asked for and the HTTP code of the answer.", append(requestLabels[:8:8], "code")),
		durations: r.histograms("apiserver_request_duration_seconds",
			"How long requests took until they were answered, watches until they ended.", requestLabels, durationBuckets),
		sli: r.histograms("apiserver_request_sli_duration_seconds",
			"How long requests took that were neither dry runs nor watches.", shortLabels, sliBuckets),
		responses: r.histograms("apiserver_response_sizes",
			"How many bytes the answers to reads had.", shortLabels, responseBuckets),
		longRunning: r.gauges("apiserver_longrunning_requests",
			"Requests that go on until the client or a timeout ends them, such as watches, at this moment.", shortLabels),
		terminations: r.counters("apiserver_request_terminations_total",
			"Requests that the server ended or refused to protect itself.", append(shortLabels[:7:7], "code")),
		deprecated: r.gauges("apiserver_requested_deprecated_apis",
			"1 for each deprecated API that was asked for, with the release that removes it.", deprecatedLabels),
		handshakes: r.counter("apiserver_tls_handshake_errors_total", "Connections that ended in the TLS handshake."),

		initEvents: r.counters("apiserver_init_events_total",
			"Events that watches began with: the objects that there were.", groupLabels),
		watchEvents: r.counters("apiserver_watch_events_total", "Events that were sent to watches.", kindLabels),
		watchSizes: r.histograms("apiserver_watch_events_sizes",
			"How many bytes the events had that were sent to watches.", kindLabels, eventBuckets),

		hookTimes: r.histograms("apiserver_admission_webhook_admission_duration_seconds",
			"How long webhooks took to answer, by their name, what they are for, and the operation.", hookLabels, hookBuckets),
		hookRejections: r.counters("apiserver_admission_webhook_rejection_count",
			"Requests that were refused because of a webhook, and whether it said so or could not be asked.", []string{"name", "type", "operation", "error_type", "rejection_code"}),
		hookFailOpen: r.counters("apiserver_admission_webhook_fail_open_count",
			"Calls that failed, of webhooks whose failures are ignored.", []string{"name", "type"}),
		hookRequests: r.counters("apiserver_admission_webhook_request_total",
			"Calls of webhooks, by the HTTP code of the answer. Codes above 600 count as 600.", []string{"name", "type", "operation", "code", "rejected"}),
		conditionErrors: r.counters("apiserver_admission_match_condition_evaluation_errors_total",
			"Conditions of webhooks and policies that could not be told.", conditionLabels),
		conditionNos: r.counters("apiserver_admission_match_condition_exclusions_total",
			"Requests about which a webhook or policy was not asked because of a condition.", conditionLabels),
		conditionTimes: r.histograms("apiserver_admission_match_condition_evaluation_seconds",
			"How long it took to tell the conditions of webhooks and policies.", conditionLabels, conditionBuckets),
		policyChecks: r.counters("apiserver_validating_admission_policy_check_total",
			"Validations of policies that failed, by what was done then.", policyLabels),
		policyCheckTimes: r.histograms("apiserver_validating_admission_policy_check_duration_seconds",
			"How long validations of policies took that failed.", policyLabels, policyBuckets),

		entries: r.counters("cadastre_managed_fields_entries_total",
			"Entries of managedFields that could not stay as they were, by what was done with them.", []string{"outcome"}),
		dropped: r.counters("cadastre_managed_fields_dropped_requests_total",
			"Requests whose answers left out managedFields, because the client said that it can do without.", shortLabels),
		commits: r.counters("cadastre_store_commits_total", "Commits to the store, by what came of them.", []string{"result"}),
		commitTimes: r.histogram("cadastre_store_commit_duration_seconds",
			"How long commits to the store took until they were durable and seen by reads.", commitBuckets),
	}
	made.all = r.made
	return made
}

// A registrar makes metrics and registers them.
type registrar struct {
	registry *prometheus.Registry
	made     []Family
}

// add registers a metric, and notes what it is: who asks for metrics does not see those that have counted nothing yet.
func (r *registrar) add(c prometheus.Collector, name, kind, help string) {
	r.registry.MustRegister(c)
	r.made = append(r.made, Family{Name: name, Type: kind, Help: help})
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
