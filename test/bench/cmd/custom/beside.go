package main

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

const (
	besideFormat    = "%-16s %-16s %9s %9s %9s %9s %9s %9s %9s\n"
	besideFootnotes = `
A client changes an object of one kind every 10 ms and waits until a watcher has received the event: p50 and p99 are measured
from the response to the event; 0 if the event is first. Then other clients also change objects of another kind, each every
20 ms, with ten watchers: with. slower: p99 with them divided by p99 alone. CPU/s: CPU time of the server per second with both
loads; more: divided by the CPU time of the same changes of each kind alone.
`
)

// compareBeside measures a watch during load on another kind, with the sides taking turns.
func compareBeside(ctx context.Context, o options, all []serverbench.Contender) (found []stat.Finding, err error) {
	turns := map[string][]serverbench.BesideResult{}
	for range o.Rounds {
		for _, side := range all {
			if err := side.Server.Settle(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", side.Name, err)
			}
			r, err := serverbench.WatchBeside(ctx, side.Server, o.Load)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.Name, err)
			}
			turns[side.Name] = append(turns[side.Name], r)
		}
	}
	fmt.Printf("\n"+besideFormat, "case", "server", "p50", "p99", "with: p50", "p99", "slower", "CPU/s", "more")
	name := "beside"
	for _, side := range all {
		these := turns[side.Name]
		fmt.Printf(besideFormat, name, side.Name,
			stat.Shown(these, func(r serverbench.BesideResult) float64 { return float64(r.Alone.P50) }, stat.Nanoseconds),
			stat.Shown(these, func(r serverbench.BesideResult) float64 { return float64(r.Alone.P99) }, stat.Nanoseconds),
			stat.Shown(these, func(r serverbench.BesideResult) float64 { return float64(r.Beside.P50) }, stat.Nanoseconds),
			stat.Shown(these, func(r serverbench.BesideResult) float64 { return float64(r.Beside.P99) }, stat.Nanoseconds),
			stat.Shown(these, serverbench.BesideResult.Slower, stat.Times2),
			stat.Shown(these, serverbench.BesideResult.CPUPerSecond, stat.Nanoseconds),
			stat.Shown(these, serverbench.BesideResult.More, stat.Times2))
		found = append(found,
			stat.Found("beside late "+side.Name, stat.Over(these, serverbench.BesideResult.Late)),
			stat.Found("beside more "+side.Name, stat.Over(these, serverbench.BesideResult.More)))
		name = ""
	}
	fmt.Print(besideFootnotes)
	return found, nil
}
