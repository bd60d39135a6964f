package metrics

import (
	"net/http"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"
)

// Metrics records the metrics of one server. It is safe for concurrent use.
type Metrics struct {
	// ReadOnly and Mutating count the requests in flight, except long-running requests such as watches.
	ReadOnly, Mutating *InFlight
	// ReadOnlyInQueue and MutatingInQueue count the requests that wait in queues of priority and fairness.
	ReadOnlyInQueue, MutatingInQueue *InFlight
	// FlowControl records the metrics of priority and fairness.
	FlowControl *FlowControl

	registry *prometheus.Registry
	families families
	commits  [len(commitResults)]prometheus.Counter
	entries  [len(entryOutcomes)]prometheus.Counter

	lock      sync.RWMutex
	endpoints map[Request]*Endpoint
}

// New returns Metrics with a Prometheus registry of their own, which includes the metrics of the process and of the Go runtime.
func New() *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m := &Metrics{
		ReadOnly:        newInFlight(time.Now),
		Mutating:        newInFlight(time.Now),
		ReadOnlyInQueue: newInFlight(time.Now),
		MutatingInQueue: newInFlight(time.Now),
		registry:        registry,
		families:        newFamilies(registry),
		endpoints:       map[Request]*Endpoint{},
	}
	m.FlowControl = newFlowControl(m)
	registry.MustRegister(
		inFlightCollector{inFlightDescription, map[string]*InFlight{"readOnly": m.ReadOnly, "mutating": m.Mutating}},
		inFlightCollector{inQueueDescription, map[string]*InFlight{"readOnly": m.ReadOnlyInQueue, "mutating": m.MutatingInQueue}},
	)
	// Scrapes contain these counters with the value 0 from the start, so that rate() includes the first increment.
	for i, result := range commitResults {
		m.commits[i] = m.families.commits.WithLabelValues(result)
	}
	for i, outcome := range entryOutcomes {
		m.entries[i] = m.families.entries.WithLabelValues(outcome)
	}
	return m
}

// Families returns the descriptions of all counters, gauges and histograms, including those without a series. It does not
// include the metrics that are collected on scrape.
func (m *Metrics) Families() []Family { return slices.Clone(m.families.all) }

// Handler returns the HTTP handler of /metrics. It responds in the format that the Accept header requests, by default in
// Prometheus' text format, and compresses the response if the client accepts gzip.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// CommitResult is the outcome of a commit to the store.
type CommitResult int

// The results of a commit.
const (
	Committed  CommitResult = iota // the commit is durable
	Conflicted                     // an item did not have the expected revision, because of a concurrent write
	Failed                         // the store returned any other error
)

// commitResults are the values of the label result.
var commitResults = [...]string{Committed: "committed", Conflicted: "conflict", Failed: "failed"}

// Commit counts a commit to the store with its result and duration.
func (m *Metrics) Commit(result CommitResult, took time.Duration) {
	m.commits[result].Inc()
	m.families.commitTimes.Observe(took.Seconds())
}

// EntryOutcome is the treatment of a managed fields entry that is invalid, or whose API version differs from that of the write.
type EntryOutcome int

// The outcomes of an entry.
const (
	Repaired EntryOutcome = iota // the entry was completed, or converted to the API version of the write
	Dropped                      // the entry was removed, because it cannot be decoded
	Kept                         // the entry was left unchanged, because it cannot be converted
	Reduced                      // the entry lost fields, because a changed schema does not have them
)

// entryOutcomes are the values of the label outcome.
var entryOutcomes = [...]string{Repaired: "repaired", Dropped: "dropped", Kept: "kept", Reduced: "reduced"}

// Feature records whether a feature gate is enabled. stage is ALPHA, BETA or "" as in Kubernetes.
func (m *Metrics) Feature(name, stage string, enabled bool) {
	value := 0.0
	if enabled {
		value = 1
	}
	m.families.features.WithLabelValues(name, stage).Set(value)
}

// UnsetApply counts an apply request whose configuration contains unset markers.
func (m *Metrics) UnsetApply(group, version, resource, subresource string) {
	m.families.unset.WithLabelValues(group, version, resource, subresource).Inc()
}

// ManagedFields adds entries, a number of managed fields entries, to the counter of outcome.
func (m *Metrics) ManagedFields(outcome EntryOutcome, entries int) {
	m.entries[outcome].Add(float64(entries))
}
