package main

import (
	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
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

// goals are about every number of managers. Those about watches are not about one watcher, who costs less than what writes
// differ by: a watch that begins shows it.
func goals(cases []testCase) (all []stat.Goal) {
	for _, c := range cases {
		switch c.verb {
		case "watch":
			all = append(all, c.watchGoals()...)
		case "begin":
			all = append(all, c.droppedGoal())
		default:
			all = append(all, c.readGoals()...)
		}
	}
	return all
}

// goal is one about a finding of the case.
func (c testCase) goal(finding, text string, bound stat.Bound) stat.Goal {
	return stat.NewGoal(c.name()+": "+text, c.name()+" "+finding, bound, stat.Times2)
}

func (c testCase) droppedGoal() stat.Goal {
	return c.goal("dropped CPU", "dropped costs less CPU than full", stat.AtMost(less))
}

func (c testCase) readGoals() []stat.Goal {
	all := []stat.Goal{
		c.droppedGoal(),
		c.goal("share", "all of managedFields is left out", stat.AtLeast(wholeShare)),
	}
	if c.media != serverbench.JSON {
		all = append(all, c.goal("by kube-apiserver", "a third of kube-apiserver's CPU", stat.AtMost(peerCost)))
	}
	return all
}

// watchGoals hold the heap that an event and a watcher take against a bound only where that is more than what the write
// takes.
func (c testCase) watchGoals() (all []stat.Goal) {
	if c.watchers < few {
		return nil
	}
	all = append(all,
		c.droppedGoal(),
		c.goal("mixed CPU", "mixed costs the CPU of full", stat.AtMost(mixedCost)),
		c.goal("mixed heap", "mixed costs the heap of full", stat.AtMost(mixedCost)),
	)
	if c.watchers < most {
		return all
	}
	all = append(all, c.goal("mixed heard", "mixed costs the heap of full, an event and watcher", stat.AtMost(mixedCost)))
	for _, way := range c.ways(floorName) {
		all = append(all, c.goal(way+" by floor", way+": 1.5x the floor's CPU", stat.AtMost(floorCost)))
	}
	return all
}
