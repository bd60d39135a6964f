package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// Names of the sides in tables and findings.
var (
	oursName  = serverbench.Ours("").Name
	floorName = serverbench.Floor(serverbench.Sample{}).Name
	peerName  = serverbench.Peer.Name
)

// reference is what the peer used on the machine of the issue, for when it is not there: kube-apiserver 1.36.3
// with etcd 3.6.5 on 2 cores, 8 clients.
var reference = map[string]time.Duration{
	"apply/create": 3900 * time.Microsecond,
	"apply/change": 5900 * time.Microsecond,
	"apply/noop":   5500 * time.Microsecond,
	"get":          800 * time.Microsecond,
	"list/2000":    127 * time.Millisecond,
	"watch/100":    108 * time.Microsecond,
}

// The same, for starting with nothing.
const (
	referenceReady  = 2800 * time.Millisecond
	referenceMemory = 310 << 20
)

const (
	loadFormat    = "%-13s %-16s %8s %9s %9s %9s %9s %8s %8s %9s\n"
	loadFootnotes = `
CPU: of the server's process, user and system, an operation; etcd's is beside it and in no ratio. ours by it:
our CPU by that side's, round by round. RSS, private: of the server's process when the turn was over. Servers are
durable but for the floor, which reads what is written, keeps nothing and answers with an object of the same size.
apply, create and update are about a Deployment with two containers; list is of 2,000 of them, not compressed.
watch: each client changes an object again when watchers have got as many events as there were changes: rate and
latencies are those of changes; CPU is an event's and watcher's: what a change costs more than without watchers,
by their number.
`
)

func printLoadHeader() {
	fmt.Printf("\n"+loadFormat, "case", "server", "op/s", "p50", "p99", "CPU", "etcd's", "RSS", "private", "ours by it")
}

func (r loadResult) print() {
	name := r.name
	for i, side := range r.sides {
		fmt.Printf(loadFormat, append([]any{name}, r.cells(side, r.turns[i])...)...)
		name = ""
	}
	if cpu := reference[r.name]; r.of(peerName) == nil && cpu > 0 {
		fmt.Printf(loadFormat, name, bracketed(peerName), "", "", "", bracketed(stat.Nanoseconds(float64(cpu))), "", "", "", bracketed(r.ratio(peerName)))
	}
}

func (r loadResult) cells(side string, turns []turn) []any {
	store := "-"
	if side == peerName {
		store = stat.Shown(turns, turn.StoreCPU, stat.Nanoseconds)
	}
	return []any{
		side, stat.Shown(turns, turn.Rate, stat.Count), stat.Shown(turns, turn.P50, stat.Nanoseconds), stat.Shown(turns, turn.P99, stat.Nanoseconds),
		stat.Shown(turns, turn.CPU, stat.Nanoseconds), store,
		stat.Shown(turns, turn.Resident, mebibytes), stat.Shown(turns, turn.Private, mebibytes), r.ratio(side),
	}
}

// ratio is our cost by a side's, or nothing.
func (r loadResult) ratio(side string) string {
	cost, ok := r.cost(side)
	if !ok || side == oursName {
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
