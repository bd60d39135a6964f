package storebench

import (
	"slices"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
)

// Result contains the measurements of a load within its window.
type Result struct {
	Load     Load
	Commits  int
	Events   int64 // number of events that all watchers received together
	Calls    int64 // number of deliveries, each with one or more events
	CPU      time.Duration
	P50, P99 time.Duration // percentiles of the latency of a commit
	// Missing is the number of events that watchers had not received when the measurement ended, the time Lag after the
	// last commit. CutOff is the number of watches that failed because the watcher was too slow, and were restarted.
	Missing int64
	Lag     time.Duration
	CutOff  int
}

func summarize(l Load, before, after reading, writers []*writer) (Result, error) {
	var latencies []time.Duration
	for _, w := range writers {
		latencies = append(latencies, w.latencies...)
	}
	if len(latencies) == 0 {
		return Result{}, errTooShort
	}
	slices.Sort(latencies)
	return Result{
		Load:    l,
		Commits: len(latencies),
		Events:  after.events - before.events,
		Calls:   after.calls - before.calls,
		CPU:     after.cpu - before.cpu,
		P50:     stat.Percentile(latencies, 50),
		P99:     stat.Percentile(latencies, 99),
	}, nil
}

// CommitRate returns the number of commits per second.
func (r Result) CommitRate() float64 { return float64(r.Commits) / r.Load.Window.Seconds() }

// EventRate returns the number of events per second, summed over all watchers.
func (r Result) EventRate() float64 { return float64(r.Events) / r.Load.Window.Seconds() }

// Delivered returns the number of received events per watcher divided by the number of commits. It is less than 1 if
// watchers fell behind.
func (r Result) Delivered() float64 {
	return float64(r.Events) / float64(r.Commits*max(1, r.Load.Watchers))
}

// CPUPerCommit returns the CPU time of the store's process per commit, in nanoseconds.
func (r Result) CPUPerCommit() float64 { return float64(r.CPU) / float64(r.Commits) }

// EventsPerCall returns the number of events per delivery. Larger batches cost less per event.
func (r Result) EventsPerCall() float64 { return float64(r.Events) / float64(max(1, r.Calls)) }

// CPUPerEvent returns the CPU time of the store's process per received event, in nanoseconds.
func (r Result) CPUPerEvent() float64 { return float64(r.CPU) / float64(max(1, r.Events)) }
