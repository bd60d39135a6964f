package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// loadCase is a case that is measured on running servers.
type loadCase struct {
	name    string
	prepare func(context.Context, *serverbench.Server) error
	measure func(context.Context, *serverbench.Server) (turn, error)
}

// watchers is the number of watchers in the watch case.
const watchers = 100

func loadCases(o options) (cases []loadCase) {
	for _, c := range serverbench.Cases {
		cases = append(cases, loadCase{
			name:    c.Name,
			prepare: func(ctx context.Context, s *serverbench.Server) error { return c.Prepare(ctx, s, o.Load.Clients) },
			measure: func(ctx context.Context, s *serverbench.Server) (turn, error) {
				r, err := c.Run(ctx, s, o.Load)
				return requestTurn(r), err
			},
		})
	}
	watch := loadCase{
		name:    fmt.Sprintf("watch/%d", watchers),
		prepare: func(context.Context, *serverbench.Server) error { return nil },
		measure: func(ctx context.Context, s *serverbench.Server) (turn, error) {
			r, err := serverbench.Watch(ctx, s, watchers, o.Load)
			if err != nil {
				return turn{}, err
			}
			return watchTurn(r), nil
		},
	}
	const reads = 2 // the first two cases only read; the others add objects
	return append(cases[:reads:reads], append([]loadCase{watch}, cases[reads:]...)...)
}

// compareLoads starts all servers once and measures the selected cases on them. The servers take turns.
func compareLoads(ctx context.Context, o options, s serverbench.Implementations) (found []stat.Finding, err error) {
	var selected []loadCase
	for _, c := range loadCases(o) {
		if o.Selected.MatchString(c.name) {
			selected = append(selected, c)
		}
	}
	if len(selected) == 0 {
		return nil, nil
	}
	all, err := startAll(ctx, o, s)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, serverbench.StopAll(all)) }()
	printLoadHeader()
	for _, c := range selected {
		r, err := c.compare(ctx, o, all)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", c.name, err)
		}
		r.print()
		found = append(found, r.findings()...)
	}
	fmt.Print(loadFootnotes)
	return found, nil
}

// compare measures the case on all servers, which take turns.
func (c loadCase) compare(ctx context.Context, o options, all []serverbench.RunningServer) (loadResult, error) {
	r := loadResult{name: c.name, turns: make([][]turn, len(all))}
	for _, server := range all {
		r.servers = append(r.servers, server.Name)
		if err := c.prepare(ctx, server.Server); err != nil {
			return r, fmt.Errorf("%s: %w", server.Name, err)
		}
	}
	for range o.Rounds {
		for i, server := range all {
			// Work that a previous turn left pending, such as garbage collection, must not be attributed to this turn.
			if err := server.Server.Settle(ctx); err != nil {
				return r, fmt.Errorf("%s: %w", server.Name, err)
			}
			t, err := c.measure(ctx, server.Server)
			if err != nil {
				return r, fmt.Errorf("%s: %w", server.Name, err)
			}
			r.turns[i] = append(r.turns[i], t)
		}
	}
	return r, nil
}

// loadResult contains the measurements of a case. turns[i] are the measurements of servers[i], one per round.
type loadResult struct {
	name    string
	servers []string
	turns   [][]turn
}

// turnsOf returns the turns of the named server, or nil if it was not measured.
func (r loadResult) turnsOf(name string) []turn {
	for i, server := range r.servers {
		if server == name {
			return r.turns[i]
		}
	}
	return nil
}

// cost returns Cadastre's CPU time divided by the CPU time of the server other. If kube-apiserver was not measured, its
// reference CPU time is used. It returns false if there is no figure to divide by.
func (r loadResult) cost(other string) (cost stat.Spread, ok bool) {
	cadastre, divisor := r.turnsOf(cadastreName), r.turnsOf(other)
	if len(cadastre) == 0 {
		return cost, false
	}
	if len(divisor) > 0 {
		return stat.Ratio(cadastre, divisor, turn.CPU), true
	}
	if cpu := reference[r.name]; other == kubeAPIServerName && cpu > 0 {
		return stat.Over(cadastre, func(t turn) float64 { return t.cpu / float64(cpu) }), true
	}
	return cost, false
}

// findings returns Cadastre's CPU time divided by that of each other server. The names of the findings contain the name
// of the case and of the other server.
func (r loadResult) findings() (found []stat.Finding) {
	for _, other := range []string{lowerBoundName, kubeAPIServerName} {
		if cost, ok := r.cost(other); ok {
			found = append(found, stat.Found(r.name+" vs "+other, cost))
		}
	}
	if len(found) == 0 { // with only one server there is no ratio
		found = append(found, stat.Found(r.name, stat.Over(r.turns[0], turn.CPU)))
	}
	return found
}
