package storebench

import (
	"slices"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
)

// A Result is what a load came to within the window.
type Result struct {
	Load     Load
	Commits  int
	Events   int64 // that watchers got, all together
	Calls    int64 // in which they got them
	CPU      time.Duration
	P50, P99 time.Duration // of a commit, as its writer sees it
	// Missing is how many events watchers had not got when they had had Lag after the last commit to
	// get them, CutOff how often one was too slow and had to start anew.
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

// CommitRate is commits per second.
func (r Result) CommitRate() float64 { return float64(r.Commits) / r.Load.Window.Seconds() }

// EventRate is events per second, those of all watchers together.
func (r Result) EventRate() float64 { return float64(r.Events) / r.Load.Window.Seconds() }

// Delivered is how much of what was committed each watcher got in the same time: less than 1 if
// watchers fell behind.
func (r Result) Delivered() float64 {
	return float64(r.Events) / float64(r.Commits*max(1, r.Load.Watchers))
}

// CPUPerCommit is the CPU time of the target's process, in nanoseconds a commit.
func (r Result) CPUPerCommit() float64 { return float64(r.CPU) / float64(r.Commits) }

// EventsPerCall is how many events a watcher got at once: the more, the less each costs.
func (r Result) EventsPerCall() float64 { return float64(r.Events) / float64(max(1, r.Calls)) }

// CPUPerEvent is the CPU time of the target's process, in nanoseconds an event that a watcher got.
func (r Result) CPUPerEvent() float64 { return float64(r.CPU) / float64(max(1, r.Events)) }
