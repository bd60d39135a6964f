package main

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

const (
	// labelWatchers is the number of watchers. Their label selectors match none of the written objects.
	labelWatchers = 10_000
	// labelWriters is the number of concurrent writers.
	labelWriters = 64
	// labelRounds multiplies -rounds, and divides the duration of a round.
	labelRounds = 4
)

const labelFootnotes = `
CPU: CPU time of the process with writers, store and cache per commit. Each watcher selects a label value that no written object
has. cost: CPU with watchers divided by CPU without, measured in adjacent turns.
`

// compareLabels measures the cost of watchers whose label selectors match no written object.
func compareLabels(ctx context.Context, o options) ([]stat.Finding, error) {
	name := fmt.Sprintf("cache/labels/%d", labelWatchers)
	if !o.selected.MatchString(name) {
		return nil, nil
	}
	// The difference is a few percent. Many short rounds measure it better than a few long ones.
	rounds := labelRounds * o.rounds
	o.turn /= labelRounds
	var with, without []storebench.Result
	load := benchCase{writers: labelWriters}.load(o)
	watched := load
	watched.Watchers, watched.Labelled = labelWatchers, true
	err := takeTurns(ctx, o, rounds, []turn{{storebench.WatchCache, watched, &with}, {storebench.WatchCache, load, &without}})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	cost := stat.Ratio(with, without, storebench.Result.CPUPerCommit)
	const format = "%-22s %10s %10s %10s %10s %10s\n"
	fmt.Printf("\n"+format, "case", "CPU with", "CPU w/o", "cost", "with/s", "w/o/s")
	fmt.Printf(format, name, latency(with, storebench.Result.CPUPerCommit), latency(without, storebench.Result.CPUPerCommit),
		stat.Times2(cost.Median), rate(with, storebench.Result.CommitRate), rate(without, storebench.Result.CommitRate))
	fmt.Print(labelFootnotes)
	return []stat.Finding{stat.Found(name+" cost", cost)}, nil
}
