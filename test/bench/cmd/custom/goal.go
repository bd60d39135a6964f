package main

import (
	"fmt"

	"github.com/cadastre/cadastre/test/bench/stat"
)

// Bounds of the goals.
const (
	// tenth is the maximum of Cadastre's cost divided by kube-apiserver's cost.
	tenth = 0.1
	// maxEventDelay is the maximum 99th percentile of the time from the response to a write until its event is received, in
	// seconds.
	maxEventDelay = 0.001
	// sameWork is the maximum ratio of the CPU times of equal work; it allows for noise.
	sameWork = 1.2
)

var goals = []stat.Goal{
	stat.NewGoal("500 CRDs: served no later than on kube-apiserver", "definitions time", stat.AtMost(1), stat.Times2),
	stat.NewGoal("500 CRDs: a tenth of kube-apiserver's CPU", "definitions CPU", stat.AtMost(tenth), stat.Times2),
	stat.NewGoal("500 CRDs: a tenth of kube-apiserver's memory", "definitions memory", stat.AtMost(tenth), stat.Times2),
	stat.NewGoal("create by apply: a tenth of kube-apiserver's CPU", "custom/create vs kube-apiserver", stat.AtMost(tenth), stat.Times2),
	stat.NewGoal("changing apply: a tenth of kube-apiserver's CPU", "custom/change vs kube-apiserver", stat.AtMost(tenth), stat.Times2),
	stat.NewGoal("no-op apply: a tenth of kube-apiserver's CPU", "custom/noop vs kube-apiserver", stat.AtMost(tenth), stat.Times2),
	stat.NewGoal("watch during load on another kind: events 1 ms after the response", "beside late cadastre", stat.AtMost(maxEventDelay), milliseconds),
	stat.NewGoal("two loads: CPU is the sum of both", "beside more cadastre", stat.AtMost(sameWork), stat.Times2),
}

func milliseconds(seconds float64) string { return fmt.Sprintf("%.2fms", seconds*1000) }
