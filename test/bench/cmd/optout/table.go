package main

import (
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

const (
	tableFormat = "%-17s %-15s %-8s %9s %9s %9s %9s %9s %9s %9s %9s %9s %8s\n"
	footnotes   = `
Cases end with how many managers objects have; lists are of 2,000, not compressed; watchers want JSON if the case does
not say what; begin is a watch of one that hears of 2,000 objects and goes, an event's share. bytes: of an answer, or
an event. CPU: of the server's process, user and system, an operation; of watches an event's and watcher's: what a
change costs more than without watchers, by their number. change: that of a change and its events to all watchers. by
full: the CPU by the same server's for whole objects, round by round; ours by it: our CPU in the same way by that
side's. Both are of the change where fewer than a hundred watch, of whom one more costs less than what changes differ
by. heap: bytes that the server takes from its heap for an operation (go_memstats_alloc_bytes_total of its metrics);
of watches, for a change and its events to all watchers. heard: that of an event and watcher, as with CPU; with few
watchers it is lost beside what the change takes. RSS: what the process has in memory with all watchers. client: bytes
and times that client-go takes from its heap for an answer or event; of kube-apiserver, which always sends all, the
row stripped is what a client pays that leaves managedFields out by itself. One watcher is not half and half.
`
)

func printHeader() {
	fmt.Printf("\n"+tableFormat, "case", "server", "way", "bytes", "CPU", "change", "by full", "ours by", "heap", "heard", "RSS", "client", "times")
}

func (r *result) print() {
	name := r.name()
	for _, row := range r.rows {
		fmt.Printf(tableFormat, append([]any{name}, r.cells(row)...)...)
		name = ""
		if row.stripped != nil {
			fmt.Printf(tableFormat, "", row.server, "stripped", "", "", "", "", "", "", "", "", size(row.stripped.Bytes), stat.Count(row.stripped.Allocations))
		}
	}
}

func (r *result) cells(row *row) []any {
	byFull, oursBy, change := "", "", ""
	if r.verb == "watch" {
		change = stat.Shown(row.turns, turn.Change, stat.Nanoseconds)
	}
	if whole := r.find(row.server, full); whole != nil && row.way != full {
		byFull = stat.Times2(stat.Ratio(row.turns, whole.turns, r.compared()).Median)
	}
	if cost, ok := r.ratio(row.way, row.server, row.way, r.compared()); ok && row.server != oursName {
		oursBy = stat.Times2(cost.Median)
	}
	return []any{
		row.server, row.way, size(row.bytes()), stat.Shown(row.turns, turn.CPU, stat.Nanoseconds), change, byFull, oursBy,
		stat.Shown(row.turns, turn.Heap, size), stat.Shown(row.turns, turn.Heard, size), stat.Shown(row.turns, turn.Resident, size),
		clientSize(row.client), clientTimes(row.client),
	}
}

func clientSize(c serverbench.ClientCost) string {
	if c.Allocations == 0 {
		return "-"
	}
	return size(c.Bytes)
}

func clientTimes(c serverbench.ClientCost) string {
	if c.Allocations == 0 {
		return "-"
	}
	return stat.Count(c.Allocations)
}

// size is a number of bytes with three digits or so.
func size(bytes float64) string {
	switch {
	case bytes != bytes:
		return "-"
	case bytes >= 10<<20:
		return fmt.Sprintf("%.1fMiB", bytes/(1<<20))
	case bytes >= 10<<10:
		return fmt.Sprintf("%.1fKiB", bytes/(1<<10))
	}
	return fmt.Sprintf("%.0fB", bytes)
}
