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
		found = append(found, stat.Found(r.name+" faster", r.faster()), stat.Found(r.name+" cheaper", r.cheaper()))
	}
	return found, err
}

func compareWatches(ctx context.Context, o options) (found []stat.Finding, err error) {
	results, err := compareAll(ctx, o, watchTable, watchCases)
	for _, r := range results {
		found = append(found, stat.Found(r.name+" more", r.livelier()))
	}
	return found, err
}

func compareCache(ctx context.Context, o options) (found []stat.Finding, err error) {
	results, err := compareAll(ctx, o, cacheTable, cacheCases)
	for _, r := range results {
		found = append(found,
			stat.Found(r.name+" events", stat.Over(r.ours, storebench.Result.EventRate)),
			stat.Found(r.name+" lost", r.lost()))
	}
	if g, ok := growth(results); ok {
		found = append(found, stat.Found("cache/watchers growth", g))
	}
	return found, err
}

// fanOut is the minimum number of watchers for which the cost per event should be constant: with fewer watchers the
// cost of the commit dominates.
const fanOut = 100

// growth returns the maximum ratio of the CPU time per event with more watchers to that with fewer.
func growth(results []result) (stat.Spread, bool) {
	var worst stat.Spread
	for i, few := range results {
		for _, many := range results[i+1:] {
			if few.watchers < fanOut {
				continue
			}
			if g := stat.Ratio(many.ours, few.ours, storebench.Result.CPUPerEvent); g.Median > worst.Median {
				worst = g
			}
		}
	}
	return worst, worst.Median > 0
}

// compareAll measures the selected cases and prints each row when it is measured.
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
