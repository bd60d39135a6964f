package main

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

const (
	underLoadFormat    = "%-16s %-16s %9s %9s %9s %9s %9s %9s %9s\n"
	underLoadFootnotes = `
A client changes an object of one kind every 10 ms and waits until a watcher has received the event: p50 and p99 are measured
from the response to the event; 0 if the event is first. Then other clients also change objects of another kind, each every
20 ms, with ten watchers: with. slower: p99 with them divided by p99 alone. CPU/s: CPU time of the server per second with both
loads; more: divided by the CPU time of the same changes of each kind alone.
`
)

// compareUnderLoad measures a watch of one kind during load on another kind, on all servers, round by round.
func compareUnderLoad(ctx context.Context, o options, all []serverbench.RunningServer) (found []stat.Finding, err error) {
	turns := map[string][]serverbench.UnderLoadResult{}
	for range o.Rounds {
		for _, server := range all {
			if err := server.Server.Settle(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", server.Name, err)
			}
			r, err := serverbench.WatchUnderLoad(ctx, server.Server, o.Load)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", server.Name, err)
			}
			turns[server.Name] = append(turns[server.Name], r)
		}
	}
	fmt.Printf("\n"+underLoadFormat, "case", "server", "p50", "p99", "with: p50", "p99", "slower", "CPU/s", "more")
	name := "beside"
	for _, server := range all {
		these := turns[server.Name]
		fmt.Printf(underLoadFormat, name, server.Name,
			stat.Shown(these, func(r serverbench.UnderLoadResult) float64 { return float64(r.Idle.P50) }, stat.Nanoseconds),
			stat.Shown(these, func(r serverbench.UnderLoadResult) float64 { return float64(r.Idle.P99) }, stat.Nanoseconds),
			stat.Shown(these, func(r serverbench.UnderLoadResult) float64 { return float64(r.Loaded.P50) }, stat.Nanoseconds),
			stat.Shown(these, func(r serverbench.UnderLoadResult) float64 { return float64(r.Loaded.P99) }, stat.Nanoseconds),
			stat.Shown(these, serverbench.UnderLoadResult.LatencyRatio, stat.Times2),
			stat.Shown(these, serverbench.UnderLoadResult.CPUPerSecond, stat.Nanoseconds),
			stat.Shown(these, serverbench.UnderLoadResult.CPURatio, stat.Times2))
		found = append(found,
			stat.Found("beside late "+server.Name, stat.Over(these, serverbench.UnderLoadResult.LatencySeconds)),
			stat.Found("beside more "+server.Name, stat.Over(these, serverbench.UnderLoadResult.CPURatio)))
		name = ""
	}
	fmt.Print(underLoadFootnotes)
	return found, nil
}
