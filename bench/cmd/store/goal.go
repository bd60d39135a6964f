package main

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/bench/storebench"
)

// A finding is a figure that a goal may be about.
type finding struct {
	name   string
	figure storebench.Spread
}

// A goal is a bound of a finding, for the median of its rounds.
type goal struct {
	text  string
	of    string // the finding
	bound bound
	show  func(float64) string
}

// A bound is the least that a figure may be, or the most.
type bound struct {
	kind  boundKind
	value float64
}

type boundKind string

const (
	atLeast boundKind = "at least"
	atMost  boundKind = "at most"
)

var goals = []goal{
	{"64 writers: at least 3x etcd's commits", "writers/64 faster", bound{atLeast, 3}, times},
	{"64 writers: at most half etcd's CPU a commit", "writers/64 cheaper", bound{atLeast, 2}, times},
	{"100 watchers: 1,000,000 events a second", "cache/watchers/100 events", bound{atLeast, 1e6}, count},
	{"10,000 watchers: 1,000,000 events a second", "cache/watchers/10000 events", bound{atLeast, 1e6}, count},
	{"10,000 watchers: all get all, nobody cut off", "cache/watchers/10000 lost", bound{atMost, 0}, count},
	{"CPU an event grows at most 2x from 100 watchers", "cache/watchers growth", bound{atMost, 2}, times},
	{"10,000 watchers of other labels cost nothing", "cache/labels/10000 cost", bound{atMost, 1.1}, times2},
	{"100,000 objects: listed at half memcpy's speed", "cache/list/100000 whole", bound{atLeast, 0.5}, times2},
	{"100,000 objects: opened in 1 s", "cache/open/100000 time", bound{atMost, 1}, seconds},
	{"1,000,000 objects: opened in 10 s", "cache/open/1000000 time", bound{atMost, 10}, seconds},
	{"1,000,000 objects: live heap 1.5x their bytes", "cache/open/1000000 live", bound{atMost, 1.5}, times2},
	{"1,000,000 objects: resident 1.5x, at work", "cache/open/1000000/paced resident", bound{atMost, 1.5}, times2},
}

func printGoals(findings []finding) {
	fmt.Print("\ngoals\n")
	for _, g := range goals {
		fmt.Println("  " + g.verdict(findings))
	}
}

// verdict says whether the goal is met, and by how much.
func (g goal) verdict(findings []finding) string {
	i := slices.IndexFunc(findings, func(f finding) bool { return f.name == g.of })
	if i < 0 {
		return fmt.Sprintf("----  %-48s %s was not measured", g.text, g.of)
	}
	word, f := "FAIL", findings[i].figure
	if g.bound.holds(f.Median) {
		word = "pass"
	}
	return fmt.Sprintf("%s  %-48s %s, rounds from %s to %s, expected %s %s", word, g.text,
		g.show(f.Median), g.show(f.Least), g.show(f.Most), g.bound.kind, g.show(g.bound.value))
}

func (b bound) holds(figure float64) bool {
	if b.kind == atLeast {
		return figure >= b.value
	}
	return figure <= b.value
}
