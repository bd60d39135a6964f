package main

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// Names of the sides in tables and findings.
var (
	oursName = serverbench.Ours("").Name
	peerName = serverbench.Peer.Name
)

const (
	applyFormat    = "%-16s %-16s %8s %9s %9s %9s %9s %9s %9s\n"
	applyFootnotes = `
CPU: CPU time of the server's process per operation; etcd's is separate and in no ratio. The custom resource has the content
of the Deployment in bench-server: 1.5 KB, two containers, lists with keys, defaults, patterns, and two CEL rules.
`
)

// compareApplies measures applies of custom resources, with the sides taking turns.
func compareApplies(ctx context.Context, o options, all []serverbench.Contender) (found []stat.Finding, err error) {
	fmt.Printf("\n"+applyFormat, "case", "server", "op/s", "p50", "p99", "CPU", "etcd's", "RSS", "ours/it")
	for _, c := range serverbench.CustomCases {
		if !o.Selected.MatchString(c.Name) {
			continue
		}
		turns, err := takeTurns(ctx, o, all, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		name := c.Name
		for _, side := range all {
			fmt.Printf(applyFormat, append([]any{name}, applyCells(side.Name, turns)...)...)
			name = ""
		}
		figure := stat.Over(turns[all[0].Name], serverbench.Result.CPUPerOperation)
		if len(all) == 2 {
			figure = stat.Ratio(turns[oursName], turns[peerName], serverbench.Result.CPUPerOperation)
		}
		found = append(found, stat.Found(c.Name+" vs kube-apiserver", figure))
	}
	fmt.Print(applyFootnotes)
	return found, nil
}

// takeTurns measures a case on all sides, round by round.
func takeTurns(ctx context.Context, o options, all []serverbench.Contender, c serverbench.Case) (map[string][]serverbench.Result, error) {
	turns := map[string][]serverbench.Result{}
	for _, side := range all {
		if err := c.Prepare(ctx, side.Server, o.Load.Clients); err != nil {
			return nil, fmt.Errorf("%s: %w", side.Name, err)
		}
	}
	for range o.Rounds {
		for _, side := range all {
			if err := side.Server.Settle(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", side.Name, err)
			}
			r, err := c.Run(ctx, side.Server, o.Load)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", side.Name, err)
			}
			turns[side.Name] = append(turns[side.Name], r)
		}
	}
	return turns, nil
}

func applyCells(side string, turns map[string][]serverbench.Result) []any {
	these := turns[side]
	store, ratio := "-", ""
	if side == peerName {
		store = stat.Shown(these, serverbench.Result.StoreCPUPerOperation, stat.Nanoseconds)
		if ours := turns[oursName]; len(ours) > 0 {
			ratio = stat.Times2(stat.Ratio(ours, these, serverbench.Result.CPUPerOperation).Median)
		}
	}
	return []any{
		side, stat.Shown(these, serverbench.Result.Rate, stat.Count),
		stat.Shown(these, func(r serverbench.Result) float64 { return float64(r.P50) }, stat.Nanoseconds),
		stat.Shown(these, func(r serverbench.Result) float64 { return float64(r.P99) }, stat.Nanoseconds),
		stat.Shown(these, serverbench.Result.CPUPerOperation, stat.Nanoseconds), store,
		resident(these[len(these)-1].After.Memory), ratio,
	}
}
