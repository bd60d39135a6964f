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

// Metrics are those of one server. Its methods may be called from many goroutines at once.
type Metrics struct {
	// ReadOnly and Mutating are the requests at work, without those that go on.
	ReadOnly, Mutating *InFlight

	registry *prometheus.Registry
	families families
	commits  [len(commitResults)]prometheus.Counter
	entries  [len(entryOutcomes)]prometheus.Counter

	lock      sync.RWMutex
	endpoints map[Request]*Endpoint
}

// New returns metrics with a registry of their own, in which the process and Go's runtime are too.
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
	// What may happen is there from the start, so that its rate is known when it first does.
	for i, result := range commitResults {
		m.commits[i] = m.families.commits.WithLabelValues(result)
	}
	for i, outcome := range entryOutcomes {
		m.entries[i] = m.families.entries.WithLabelValues(outcome)
	}
	return m
}

// Families returns the metrics that count, also those that have not yet counted anything.
func (m *Metrics) Families() []Family { return slices.Clone(m.families.all) }

// Handler answers with all metrics in Prometheus' text format, or in the form that the request asks
// for, compressed if it accepts gzip.
func (m *Metrics) Handler() http.Handler {
	return promhttp.HandlerFor(m.registry, promhttp.HandlerOpts{})
}

// A CommitResult is what came of a commit.
type CommitResult int

// The results of a commit.
const (
	Committed  CommitResult = iota
	Conflicted              // another had written first, or what was expected not to be there was
	Failed                  // the store could not
)

var commitResults = [...]string{Committed: "committed", Conflicted: "conflict", Failed: "failed"}

// Commit counts a commit to the store.
func (m *Metrics) Commit(result CommitResult, took time.Duration) {
	m.commits[result].Inc()
	m.families.commitTimes.Observe(took.Seconds())
}

// An EntryOutcome is what was done with an entry of managedFields that could not stay as it was.
type EntryOutcome int

// The outcomes of an entry.
const (
	Repaired EntryOutcome = iota // made whole, or brought to the version that is written
	Dropped                      // nothing could be read from it
	Kept                         // left as it was, although it should have changed
)

var entryOutcomes = [...]string{Repaired: "repaired", Dropped: "dropped", Kept: "kept"}

// ManagedFields counts entries of managedFields.
func (m *Metrics) ManagedFields(outcome EntryOutcome, entries int) {
	m.entries[outcome].Add(float64(entries))
}
