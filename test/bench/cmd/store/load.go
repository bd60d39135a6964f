package main

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

func compareCommits(ctx context.Context, o options) (found []stat.Finding, err error) {
	results, err := compareAll(ctx, o, commitTable, commitCases)
	for _, r := range results {
		found = append(found, stat.Found(r.name+" faster", r.commitSpeedup()), stat.Found(r.name+" cheaper", r.cpuRatio()))
	}
	return found, err
}

func compareWatches(ctx context.Context, o options) (found []stat.Finding, err error) {
	results, err := compareAll(ctx, o, watchTable, watchCases)
	for _, r := range results {
		found = append(found, stat.Found(r.name+" more", r.eventRatio()))
	}
	return found, err
}

func compareCache(ctx context.Context, o options) (found []stat.Finding, err error) {
	results, err := compareAll(ctx, o, cacheTable, cacheCases)
	for _, r := range results {
		found = append(found,
			stat.Found(r.name+" events", stat.Over(r.cadastre, storebench.Result.EventRate)),
			stat.Found(r.name+" lost", r.lostEvents()))
	}
	if g, ok := growth(results); ok {
		found = append(found, stat.Found("cache/watchers growth", g))
	}
	return found, err
}

// fanOutWatchers is the minimum number of watchers with which the CPU time per event should be constant. With fewer watchers
// the CPU time of the commit dominates.
const fanOutWatchers = 100

// growth compares the CPU time per event of all cases with at least fanOutWatchers watchers. It returns the maximum ratio
// of the CPU time of one case to the CPU time of a case with fewer watchers, and false if there are fewer than two cases.
func growth(results []result) (stat.Spread, bool) {
	var worst stat.Spread
	for i, few := range results {
		for _, many := range results[i+1:] {
			if few.watchers < fanOutWatchers {
				continue
			}
			if g := stat.Ratio(many.cadastre, few.cadastre, storebench.Result.CPUPerEvent); g.Median > worst.Median {
				worst = g
			}
		}
	}
	return worst, worst.Median > 0
}

// compareAll measures the selected cases and prints the row of each case as soon as it is measured.
func compareAll(ctx context.Context, o options, t table, cases []benchCase) ([]result, error) {
	var results []result
	for _, c := range cases {
		if !o.selected.MatchString(c.name) {
			continue
		}
		if len(results) == 0 {
			t.printHeader()
		}
		r, err := measure(ctx, c, o)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		t.print(r)
		results = append(results, r)
	}
	if len(results) > 0 {
		fmt.Print(t.footnotes)
	}
	return results, nil
}
