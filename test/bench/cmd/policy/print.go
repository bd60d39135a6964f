package main

import (
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// Names of the servers in tables and findings.
var (
	cadastreName      = serverbench.Cadastre("").Name
	kubeAPIServerName = serverbench.KubeAPIServer.Name
)

// Bounds of the goals.
const (
	// noCost is the maximum of the CPU time with a policy for another resource divided by that without a policy; it allows for noise.
	noCost = 1.05
	third  = 1.0 / 3
)

var goals = []stat.Goal{
	stat.NewGoal("a policy for another resource costs nothing", "policy/other vs policy/none", stat.AtMost(noCost), stat.Times2),
	stat.NewGoal("an update that a policy changes: a third of kube-apiserver's CPU", "policy/matching vs kube-apiserver", stat.AtMost(third), stat.Times2),
}

const (
	format    = "%-16s %-16s %8s %9s %9s %9s %9s %9s\n"
	footnotes = `
CPU: CPU time of the server's process per update; etcd's is not counted. none: CPU divided by that of the same server without a policy.
ratio: Cadastre's CPU divided by that of the row's server. The policy has a match condition, a variable and an apply configuration that
sets an annotation; the object is the Deployment of bench-server.
`
)

func (r results) print(all []serverbench.RunningServer) {
	cpu := serverbench.Result.CPUPerOperation
	fmt.Printf("\n"+format, "case", "server", "op/s", "p50", "p99", "CPU", "none", "ratio")
	for _, state := range serverbench.PolicyStates {
		name := state.Name
		for _, server := range all {
			these := r[state.Name][server.Name]
			if len(these) == 0 {
				continue
			}
			fmt.Printf(format, name, server.Name, stat.Shown(these, serverbench.Result.Rate, stat.Count),
				stat.Shown(these, func(r serverbench.Result) float64 { return float64(r.P50) }, stat.Nanoseconds),
				stat.Shown(these, func(r serverbench.Result) float64 { return float64(r.P99) }, stat.Nanoseconds),
				stat.Shown(these, cpu, stat.Nanoseconds),
				ratio(these, r[serverbench.PolicyStates[0].Name][server.Name]), ratio(r[state.Name][cadastreName], these))
			name = ""
		}
	}
	fmt.Print(footnotes)
}

// ratio formats the CPU time of a divided by that of b, round by round; "" if one of them was not measured.
func ratio(a, b []serverbench.Result) string {
	if len(a) == 0 || len(b) == 0 {
		return ""
	}
	return stat.Times2(stat.Ratio(a, b, serverbench.Result.CPUPerOperation).Median)
}

func (r results) findings() (found []stat.Finding) {
	none, other, matching := r["policy/none"][cadastreName], r["policy/other"][cadastreName], r["policy/matching"]
	if len(none) > 0 && len(other) > 0 {
		found = append(found, stat.Found("policy/other vs policy/none", stat.Ratio(other, none, serverbench.Result.CPUPerOperation)))
	}
	if len(matching[cadastreName]) > 0 && len(matching[kubeAPIServerName]) > 0 {
		found = append(found, stat.Found("policy/matching vs kube-apiserver",
			stat.Ratio(matching[cadastreName], matching[kubeAPIServerName], serverbench.Result.CPUPerOperation)))
	}
	return found
}
