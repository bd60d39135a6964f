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

// Metrics are the metrics of one server. It is safe for concurrent use.
type Metrics struct {
	// ReadOnly and Mutating are the requests in flight, without long-running ones.
	ReadOnly, Mutating *InFlight

	registry *prometheus.Registry
	families families
	commits  [len(commitResults)]prometheus.Counter
	entries  [len(entryOutcomes)]prometheus.Counter

	lock      sync.RWMutex
	endpoints map[Request]*Endpoint
}

// New returns metrics with their own registry, which includes the metrics of the process and of the Go runtime.
func New() *Metrics {
	registry := prometheus.NewRegistry()
	registry.MustRegister(collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	m := &Metrics{
		ReadOnly:  newInFlight(time.Now),
		Mutating:  newInFlight(time.Now),
		registry:  registry,
		families:  newFamilies(registry),
		endpoints: map[Request]*Endpoint{},
	}
	registry.MustRegister(inFlightCollector{map[string]*InFlight{"readOnly": m.ReadOnly, "mutating": m.Mutating}})
	// These counters start at 0, so that rate() includes the first increment.
	for i, result := range commitResults {
		m.commits[i] = m.families.commits.WithLabelValues(result)
	}
	for i, outcome := range entryOutcomes {
		m.entries[i] = m.families.entries.WithLabelValues(outcome)
	}
	return m
}

// Families returns all counters, gauges and histograms, including those without a series. It does not include metrics that are
// collected on scrape.
func (m *Metrics) Families() []Family { return slices.Clone(m.families.all) }

// Handler returns the handler of /metrics: in Prometheus' text format or the negotiated one, compressed if the client accepts gzip.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// CommitResult is the outcome of a commit to the store.
type CommitResult int

// The results of a commit.
const (
	Committed  CommitResult = iota
	Conflicted              // lost a race: an item did not have the expected revision
	Failed                  // any other error of the store
)

var commitResults = [...]string{Committed: "committed", Conflicted: "conflict", Failed: "failed"}

// Commit counts a commit to the store.
func (m *Metrics) Commit(result CommitResult, took time.Duration) {
	m.commits[result].Inc()
	m.families.commitTimes.Observe(took.Seconds())
}

// EntryOutcome is the outcome for a managed fields entry that is invalid or of another version.
type EntryOutcome int

// The outcomes of an entry.
const (
	Repaired EntryOutcome = iota // completed, or converted to the version that is written
	Dropped                      // removed: it cannot be decoded
	Kept                         // left unchanged, because it cannot be converted
)

var entryOutcomes = [...]string{Repaired: "repaired", Dropped: "dropped", Kept: "kept"}

// ManagedFields counts managed fields entries.
func (m *Metrics) ManagedFields(outcome EntryOutcome, entries int) {
	m.entries[outcome].Add(float64(entries))
}
