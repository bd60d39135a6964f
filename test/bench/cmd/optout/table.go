package main

import (
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

const (
	tableFormat = "%-17s %-15s %-8s %9s %9s %9s %9s %9s %9s %9s %9s %9s %8s\n"
	footnotes   = `
The last number of a case is the number of field managers. Lists have 2,000 objects, uncompressed. Watchers use JSON unless the
case names a media type. begin: a watch that ends after its 2,000 initial events, per event. bytes: of a response or an event.
CPU: CPU time of the server's process (user and system) per operation; for watch per event and watcher: the difference to a
change without watchers, divided by their number. change: CPU time per change, including its events to all watchers. vs full:
CPU divided by that of the same server for whole objects, round by round. ratio: Cadastre's CPU divided by that of the row's server, for
the same type of request. Both use the CPU per change with fewer than a hundred watchers, because the cost per watcher is then below the
noise. heap: bytes that the server allocates per operation (go_memstats_alloc_bytes_total); for watch per change, including its
events. heap/w: the same per event and watcher, as for CPU; with few watchers it is below the noise. RSS: resident memory with
all watchers. client: bytes and number of allocations of client-go per response or event; kube-apiserver always sends
managedFields, and its row stripped is the cost of a client that removes them. A single watcher has no mixed row.
`
)

func printHeader() {
	fmt.Printf("\n"+tableFormat, "case", "server", "type", "bytes", "CPU", "change", "vs full", "ratio", "heap", "heap/w", "RSS", "client", "times")
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
	vsFull, ratio, change := "", "", ""
	if r.verb == "watch" {
		change = stat.Shown(row.turns, turn.Change, stat.Nanoseconds)
	}
	if whole := r.find(row.server, full); whole != nil && row.requestType != full {
		vsFull = stat.Times2(stat.Ratio(row.turns, whole.turns, r.comparedCPU()).Median)
	}
	if cost, ok := r.ratio(row.requestType, row.server, row.requestType, r.comparedCPU()); ok && row.server != cadastreName {
		ratio = stat.Times2(cost.Median)
	}
	return []any{
		row.server, row.requestType, size(row.bytes()), stat.Shown(row.turns, turn.CPU, stat.Nanoseconds), change, vsFull, ratio,
		stat.Shown(row.turns, turn.Heap, size), stat.Shown(row.turns, turn.HeapPerWatcher, size), stat.Shown(row.turns, turn.Resident, size),
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

// size formats a number of bytes. It returns "-" for NaN.
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
