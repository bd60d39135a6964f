package main

import (
	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// Bounds of the goals, as ratios.
const (
	// droppedCost is the maximum CPU time of responses without managedFields, divided by that of whole objects.
	droppedCost = 1.0
	// mixedCost is the maximum cost of mixed watchers, divided by that of watchers which all receive whole objects.
	mixedCost = 1.05
	// lowerBoundCost is the maximum CPU time of an event to many watchers, divided by that of the lower bound.
	lowerBoundCost = 1.5
	// kubeAPIServerCost is the maximum CPU time of a protobuf or CBOR response, divided by that of kube-apiserver.
	kubeAPIServerCost = 1.0 / 3
	// minDroppedShare is the minimum share of the bytes of managedFields that must be omitted. The brackets and commas
	// around managedFields are about 1%.
	minDroppedShare = 0.99
)

// goals returns the goals of the cases. A case with a single watcher has no goals, because the cost of one watcher is
// below the noise of the writes; the case begin measures that cost.
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

// goal returns a goal with text and bound for the finding of the case with the given name.
func (c testCase) goal(finding, text string, bound stat.Bound) stat.Goal {
	return stat.NewGoal(c.name()+": "+text, c.name()+" "+finding, bound, stat.Times2)
}

func (c testCase) droppedGoal() stat.Goal {
	return c.goal("dropped CPU", "dropped costs less CPU than full", stat.AtMost(droppedCost))
}

func (c testCase) readGoals() []stat.Goal {
	all := []stat.Goal{
		c.droppedGoal(),
		c.goal("share", "responses omit all of managedFields", stat.AtLeast(minDroppedShare)),
	}
	if c.media != serverbench.JSON {
		all = append(all, c.goal("vs kube-apiserver", "a third of kube-apiserver's CPU", stat.AtMost(kubeAPIServerCost)))
	}
	return all
}

// watchGoals returns the goals of a watch case. The heap per event and watcher has a goal only with many watchers,
// because with few watchers the allocations of the write dominate.
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
	for _, requestType := range c.requestTypes(lowerBoundName) {
		all = append(all, c.goal(requestType+" vs lower-bound", requestType+": 1.5x the CPU of the lower bound", stat.AtMost(lowerBoundCost)))
	}
	return all
}
