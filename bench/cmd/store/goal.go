package main

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/bench/storebench"
)

// A goal is a least ratio on one case, for the median of its rounds.
type goal struct {
	text  string
	on    string
	ratio func(result) storebench.Spread
	bound float64
}

var goals = []goal{
	{text: "64 writers: at least 3x etcd's commits", on: "writers/64", ratio: result.faster, bound: 3},
	{text: "64 writers: at most half etcd's CPU a commit", on: "writers/64", ratio: result.cheaper, bound: 2},
}

func printGoals(results []result) {
	fmt.Print("\ngoals\n")
	for _, g := range goals {
		fmt.Println("  " + g.verdict(results))
	}
}

// verdict says whether the goal is met, and by how much.
func (g goal) verdict(results []result) string {
	i := slices.IndexFunc(results, func(r result) bool { return r.name == g.on })
	if i < 0 {
		return fmt.Sprintf("----  %-46s %s did not run", g.text, g.on)
	}
	word := "FAIL"
	ratio := g.ratio(results[i])
	if ratio.Median >= g.bound {
		word = "pass"
	}
	return fmt.Sprintf("%s  %-46s %s, rounds from %s to %s, expected at least %s", word, g.text,
		times(ratio.Median), times(ratio.Least), times(ratio.Most), times(g.bound))
}
