package main

import (
	"fmt"

	"github.com/cadastre/cadastre/bench/stat"
)

// Goals.
const (
	// less is what leaving something out may cost at most by sending it.
	less = 1.0
	// mixedCost is what watchers that differ may cost at most, by watchers that do not.
	mixedCost = 1.05
	// floorCost is that of an event to many watchers, by the floor's.
	floorCost = 1.5
	// peerCost is that of a binary answer, by kube-apiserver's.
	peerCost = 1.0 / 3
	// wholeShare is how much of managedFields must be left out. The brackets and commas around them make a hundredth.
	wholeShare = 0.99
)

// goals are about every number of managers. Those about watches are about many watchers: what a few cost is lost beside
// what a write costs.
func goals(cases []testCase) (all []stat.Goal) {
	add := func(name, what, text string, bound stat.Bound) {
		all = append(all, stat.NewGoal(name+": "+text, name+" "+what, bound, stat.Times2))
	}
	for _, c := range cases {
		name := c.name()
		switch {
		case c.verb != "watch":
			add(name, "dropped CPU", "dropped costs less CPU than full", stat.AtMost(less))
			add(name, "share", "all of managedFields is left out", stat.AtLeast(wholeShare))
			if c.detail != "json" {
				add(name, "by kube-apiserver", "a third of kube-apiserver's CPU", stat.AtMost(peerCost))
			}
		case c.watchers >= 100:
			add(name, "dropped CPU", "dropped costs less CPU than full", stat.AtMost(less))
			add(name, "mixed CPU", "mixed costs the CPU of full", stat.AtMost(mixedCost))
			add(name, "mixed memory", "mixed costs the memory of full", stat.AtMost(mixedCost))
		}
		if c.watchers == 1000 {
			for _, way := range []string{full, dropped, mixed} {
				add(name, way+" by floor", fmt.Sprintf("%s: 1.5x the floor's CPU", way), stat.AtMost(floorCost))
			}
		}
	}
	return all
}
