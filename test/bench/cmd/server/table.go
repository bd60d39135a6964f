package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// Names of the servers in tables and findings.
var (
	cadastreName      = serverbench.Cadastre("").Name
	lowerBoundName    = serverbench.LowerBound(serverbench.Sample{}).Name
	kubeAPIServerName = serverbench.KubeAPIServer.Name
)

// reference contains the CPU time per operation of kube-apiserver on a reference machine (kube-apiserver 1.36.3 with
// etcd 3.6.5, 2 cores, 8 clients) by case. It is used if kube-apiserver is not built.
var reference = map[string]time.Duration{
	"apply/create": 3900 * time.Microsecond,
	"apply/change": 5900 * time.Microsecond,
	"apply/noop":   5500 * time.Microsecond,
	"get":          800 * time.Microsecond,
	"list/2000":    127 * time.Millisecond,
	"watch/100":    108 * time.Microsecond,
}

const (
	// referenceReady is the startup time of kube-apiserver with an empty data folder on the reference machine.
	referenceReady = 2800 * time.Millisecond
	// referenceMemory is the resident memory of that kube-apiserver after the start, in bytes.
	referenceMemory = 310 << 20
)

const (
	loadFormat    = "%-13s %-16s %8s %9s %9s %9s %9s %8s %8s %9s\n"
	loadFootnotes = `
CPU: CPU time of the server's process (user and system) per operation; etcd's is separate and in no ratio. ratio: Cadastre's
CPU divided by that of the row's server, round by round. RSS, private: of the server's process at the end of a round. Servers are
durable except lower-bound, which reads requests, stores nothing and responds with an object of the same size. apply, create and update use a
Deployment with two containers; list has 2,000 of them, uncompressed. watch: each client changes an object again when the
watchers have received as many events as there were changes: rate and latencies are those of changes; CPU is per event and
watcher: the difference to a change without watchers, divided by their number.
`
)

func printLoadHeader() {
	fmt.Printf("\n"+loadFormat, "case", "server", "op/s", "p50", "p99", "CPU", "etcd's", "RSS", "private", "ratio")
}

func (r loadResult) print() {
	name := r.name
	for i, server := range r.servers {
		fmt.Printf(loadFormat, append([]any{name}, r.cells(server, r.turns[i])...)...)
		name = ""
	}
	if cpu := reference[r.name]; r.turnsOf(kubeAPIServerName) == nil && cpu > 0 {
		fmt.Printf(loadFormat, name, bracketed(kubeAPIServerName), "", "", "", bracketed(stat.Nanoseconds(float64(cpu))), "", "", "", bracketed(r.ratio(kubeAPIServerName)))
	}
}

func (r loadResult) cells(server string, turns []turn) []any {
	store := "-"
	if server == kubeAPIServerName {
		store = stat.Shown(turns, turn.StoreCPU, stat.Nanoseconds)
	}
	return []any{
		server, stat.Shown(turns, turn.Rate, stat.Count), stat.Shown(turns, turn.P50, stat.Nanoseconds), stat.Shown(turns, turn.P99, stat.Nanoseconds),
		stat.Shown(turns, turn.CPU, stat.Nanoseconds), store,
		stat.Shown(turns, turn.Resident, mebibytes), stat.Shown(turns, turn.Private, mebibytes), r.ratio(server),
	}
}

// ratio formats Cadastre's CPU time divided by the CPU time of the named server. It returns "" for Cadastre itself, and if
// there is no CPU time to divide by.
func (r loadResult) ratio(server string) string {
	cost, ok := r.cost(server)
	if !ok || server == cadastreName {
		return ""
	}
	return stat.Times2(cost.Median)
}

func bracketed(text string) string {
	if text == "" {
		return ""
	}
	return "[" + text + "]"
}

func mebibytes(bytes float64) string { return fmt.Sprintf("%.0fMiB", bytes/(1<<20)) }

func milliseconds(seconds float64) string { return fmt.Sprintf("%.0fms", seconds*1000) }
