package main

import (
	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// Bounds of the goals.
const (
	// less is the maximum cost of dropping managedFields, divided by that of sending them.
	less = 1.0
	// mixedCost is the maximum cost of mixed watchers, divided by that of uniform ones.
	mixedCost = 1.05
	// floorCost is the maximum cost of an event to many watchers, divided by the floor's.
	floorCost = 1.5
	// peerCost is the maximum cost of a binary response, divided by kube-apiserver's.
	peerCost = 1.0 / 3
	// wholeShare is the minimum share of the bytes of managedFields that must be omitted; brackets and commas around
	// them are about 1%.
	wholeShare = 0.99
)

// goals returns the goals of cases. There are none for a single watcher, whose cost is below the noise of writes;
// begin measures it.
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

// goal returns a goal for a finding of the case.
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
		all = append(all, c.goal("vs kube-apiserver", "a third of kube-apiserver's CPU", stat.AtMost(peerCost)))
	}
	return all
}

// watchGoals has goals for the heap per event and watcher only for many watchers, because otherwise the write
// dominates.
func (c testCase) watchGoals() (all []stat.Goal) {
	if c.watchers < fewWatchers {
		return nil
	}
	all = append(all,
		c.droppedGoal(),
		c.goal("mixed CPU", "mixed costs the CPU of full", stat.AtMost(mixedCost)),
		c.goal("mixed heap", "mixed costs the heap of full", stat.AtMost(mixedCost)),
	)
	if c.watchers < maxWatchers {
		return all
	}
	all = append(all, c.goal("mixed heap per watcher", "mixed: heap per event and watcher as for full", stat.AtMost(mixedCost)))
	for _, requestType := range c.requestTypes(floorName) {
		all = append(all, c.goal(requestType+" vs floor", requestType+": 1.5x the floor's CPU", stat.AtMost(floorCost)))
	}
	return all
}
