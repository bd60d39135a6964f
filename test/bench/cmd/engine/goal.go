package main

import (
	"fmt"
	"math"
	"slices"

	"github.com/cadastre/cadastre/test/bench"
)

// goal is a minimum or maximum that a ratio of measurements must meet.
type goal struct {
	text  string
	ratio func(result) float64
	// bound is the maximum of the ratio if isMaximum is true, or the minimum if isMaximum is false.
	bound     float64
	isMaximum bool
	// If ofMean is true, the geometric mean of the ratios of all cases must meet the bound. If it is false, the ratio
	// of every case must meet the bound.
	ofMean bool
	// operations are the operations whose cases the goal covers.
	operations []bench.Operation
}

var goals = []goal{
	{text: "geometric mean at least 10x faster", ratio: result.speedup, bound: 10, ofMean: true, operations: bench.Operations},
	{text: "no case under 4x faster", ratio: result.speedup, bound: 4, operations: bench.Operations},
	{text: "every no-op at least 30x faster", ratio: result.speedup, bound: 30, operations: []bench.Operation{bench.NoOp}},
	{text: "allocations at most a twentieth", ratio: result.allocationRatio, bound: 20, operations: bench.Operations},
	{text: "at most 3x the lower bound", ratio: result.aboveLowerBound, bound: 3, isMaximum: true, operations: bench.Operations},
	{text: "every patch made at least 10x faster", ratio: result.speedup, bound: 10, operations: []bench.Operation{bench.Make, bench.MakeThreeWay}},
	{text: "every patch merged at least 10x faster", ratio: result.speedup, bound: 10, operations: []bench.Operation{bench.Merge}},
}

func printGoals(results []result) {
	fmt.Print("\ngoals\n")
	for _, g := range goals {
		fmt.Println("  " + g.verdict(results))
	}
}

// verdict returns a line with pass or FAIL, the geometric mean, and the worst case. The line says "not measured" if no
// case of the goal was run.
func (g goal) verdict(results []result) string {
	results = slices.DeleteFunc(slices.Clone(results), func(r result) bool { return !slices.Contains(g.operations, r.operation) })
	if len(results) == 0 {
		return fmt.Sprintf("----  %-38s not measured", g.text)
	}
	mean := geometricMean(results, g.ratio)
	worst := slices.MinFunc(results, func(a, b result) int { return g.compare(g.ratio(a), g.ratio(b)) })
	judged := g.ratio(worst)
	if g.ofMean {
		judged = mean
	}
	word := "FAIL"
	if g.compare(judged, g.bound) >= 0 {
		word = "pass"
	}
	return fmt.Sprintf("%s  %-38s mean %s, worst %s (%s)", word, g.text, times(mean), times(g.ratio(worst)), worst.Name())
}

// compare orders ratios from worst to best. It returns a negative number if a is worse than b.
func (g goal) compare(a, b float64) int {
	switch {
	case a == b:
		return 0
	case (a < b) != g.isMaximum:
		return -1
	}
	return 1
}

func geometricMean(results []result, ratio func(result) float64) float64 {
	var sum float64
	for _, r := range results {
		sum += math.Log(ratio(r))
	}
	return math.Exp(sum / float64(len(results)))
}
