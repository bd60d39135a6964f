package main

import "github.com/cadastre/cadastre/test/bench/stat"

// sameCost is the maximum ratio of two costs that should be equal; it allows for noise.
const sameCost = 1.2

var goals = []stat.Goal{
	stat.NewGoal("create by apply: a tenth of kube-apiserver's CPU", "apply/create vs kube-apiserver", stat.AtMost(0.1), stat.Times2),
	stat.NewGoal("changing apply: a tenth of kube-apiserver's CPU", "apply/change vs kube-apiserver", stat.AtMost(0.1), stat.Times2),
	stat.NewGoal("no-op apply: a twentieth of kube-apiserver's CPU", "apply/noop vs kube-apiserver", stat.AtMost(0.05), stat.Times2),
	stat.NewGoal("get: 1.5x the CPU of the lower bound", "get vs lower-bound", stat.AtMost(1.5), stat.Times2),
	stat.NewGoal("list of 2,000: 1.5x the CPU of the lower bound", "list/2000 vs lower-bound", stat.AtMost(1.5), stat.Times2),
	stat.NewGoal("event to 100 watchers: 1.5x the CPU of the lower bound", "watch/100 vs lower-bound", stat.AtMost(1.5), stat.Times2),
	stat.NewGoal("empty: ready in 100 ms", "ready/empty time", stat.AtMost(0.1), milliseconds),
	stat.NewGoal("empty: 60 MiB", "ready/empty memory", stat.AtMost(60<<20), mebibytes),
	stat.NewGoal("100,000 objects: ready in 2 s", "ready/100000 time", stat.AtMost(2), stat.Seconds),
	stat.NewGoal("100,000 objects: 3x their JSON in memory", "ready/100000 memory", stat.AtMost(3), stat.Times2),
	stat.NewGoal("1,000,000 objects: an apply costs as with 1,000", "apply/objects growth", stat.AtMost(sameCost), stat.Times2),
}
