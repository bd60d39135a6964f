package main

import (
	"context"
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// Names of the servers in tables and findings.
var (
	cadastreName      = serverbench.Cadastre("").Name
	kubeAPIServerName = serverbench.KubeAPIServer.Name
)

const (
	applyFormat    = "%-16s %-16s %8s %9s %9s %9s %9s %9s %9s\n"
	applyFootnotes = `
CPU: CPU time of the server's process per operation; etcd's is separate and in no ratio. ratio: Cadastre's CPU divided by that of the row's server. The custom resource has the content
of the Deployment in bench-server: 1.5 KB, two containers, lists with keys, defaults, patterns, and two CEL rules.
`
)

// compareApplies measures applies of custom resources on all servers, round by round.
func compareApplies(ctx context.Context, o options, all []serverbench.RunningServer) (found []stat.Finding, err error) {
	fmt.Printf("\n"+applyFormat, "case", "server", "op/s", "p50", "p99", "CPU", "etcd's", "RSS", "ratio")
	for _, c := range serverbench.CustomCases {
		if !o.Selected.MatchString(c.Name) {
			continue
		}
		turns, err := takeTurns(ctx, o, all, c)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.Name, err)
		}
		name := c.Name
		for _, server := range all {
			fmt.Printf(applyFormat, append([]any{name}, applyCells(server.Name, turns)...)...)
			name = ""
		}
		figure := stat.Over(turns[all[0].Name], serverbench.Result.CPUPerOperation)
		if len(all) == 2 {
			figure = stat.Ratio(turns[cadastreName], turns[kubeAPIServerName], serverbench.Result.CPUPerOperation)
		}
		found = append(found, stat.Found(c.Name+" vs kube-apiserver", figure))
	}
	fmt.Print(applyFootnotes)
	return found, nil
}

// takeTurns measures a case on all servers, round by round. It returns the results by the name of the server.
func takeTurns(ctx context.Context, o options, all []serverbench.RunningServer, c serverbench.Case) (map[string][]serverbench.Result, error) {
	turns := map[string][]serverbench.Result{}
	for _, server := range all {
		if err := c.Prepare(ctx, server.Server, o.Load.Clients); err != nil {
			return nil, fmt.Errorf("%s: %w", server.Name, err)
		}
	}
	for range o.Rounds {
		for _, server := range all {
			if err := server.Server.Settle(ctx); err != nil {
				return nil, fmt.Errorf("%s: %w", server.Name, err)
			}
			r, err := c.Run(ctx, server.Server, o.Load)
			if err != nil {
				return nil, fmt.Errorf("%s: %w", server.Name, err)
			}
			turns[server.Name] = append(turns[server.Name], r)
		}
	}
	return turns, nil
}

func applyCells(server string, turns map[string][]serverbench.Result) []any {
	these := turns[server]
	store, ratio := "-", ""
	if server == kubeAPIServerName {
		store = stat.Shown(these, serverbench.Result.StoreCPUPerOperation, stat.Nanoseconds)
		if cadastre := turns[cadastreName]; len(cadastre) > 0 {
			ratio = stat.Times2(stat.Ratio(cadastre, these, serverbench.Result.CPUPerOperation).Median)
		}
	}
	return []any{
		server, stat.Shown(these, serverbench.Result.Rate, stat.Count),
		stat.Shown(these, func(r serverbench.Result) float64 { return float64(r.P50) }, stat.Nanoseconds),
		stat.Shown(these, func(r serverbench.Result) float64 { return float64(r.P99) }, stat.Nanoseconds),
		stat.Shown(these, serverbench.Result.CPUPerOperation, stat.Nanoseconds), store,
		resident(these[len(these)-1].After.Memory), ratio,
	}
}
