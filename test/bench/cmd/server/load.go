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

// watchers is the number of watchers per event.
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
	const reads = 2 // read cases come before those that add objects
	return append(cases[:reads:reads], append([]loadCase{watch}, cases[reads:]...)...)
}

// compareLoads starts all servers once and measures the cases, with the sides taking turns.
func compareLoads(ctx context.Context, o options, s serverbench.Sides) (found []stat.Finding, err error) {
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

// compare measures the case, with the sides taking turns.
func (c loadCase) compare(ctx context.Context, o options, all []serverbench.Contender) (loadResult, error) {
	r := loadResult{name: c.name, turns: make([][]turn, len(all))}
	for _, side := range all {
		r.sides = append(r.sides, side.Name)
		if err := c.prepare(ctx, side.Server); err != nil {
			return r, fmt.Errorf("%s: %w", side.Name, err)
		}
	}
	for range o.Rounds {
		for i, side := range all {
			// Pending work of another turn, such as garbage collection, must not be attributed to this one.
			if err := side.Server.Settle(ctx); err != nil {
				return r, fmt.Errorf("%s: %w", side.Name, err)
			}
			t, err := c.measure(ctx, side.Server)
			if err != nil {
				return r, fmt.Errorf("%s: %w", side.Name, err)
			}
			r.turns[i] = append(r.turns[i], t)
		}
	}
	return r, nil
}

// loadResult has the turns of each side on a case.
type loadResult struct {
	name  string
	sides []string
	turns [][]turn
}

// of returns the turns of a side; nil if it was not measured.
func (r loadResult) of(name string) []turn {
	for i, side := range r.sides {
		if side == name {
			return r.turns[i]
		}
	}
	return nil
}

// cost returns our CPU time divided by another side's.
func (r loadResult) cost(other string) (cost stat.Spread, ok bool) {
	ours, theirs := r.of(oursName), r.of(other)
	if len(ours) == 0 {
		return cost, false
	}
	if len(theirs) > 0 {
		return stat.Ratio(ours, theirs, turn.CPU), true
	}
	if cpu := reference[r.name]; other == peerName && cpu > 0 {
		return stat.Over(ours, func(t turn) float64 { return t.cpu / float64(cpu) }), true
	}
	return cost, false
}

// findings returns our relative costs, named by the case and the other side.
func (r loadResult) findings() (found []stat.Finding) {
	for _, other := range []string{floorName, peerName} {
		if cost, ok := r.cost(other); ok {
			found = append(found, stat.Found(r.name+" vs "+other, cost))
		}
	}
	if len(found) == 0 { // only one side was measured: no ratio
		found = append(found, stat.Found(r.name, stat.Over(r.turns[0], turn.CPU)))
	}
	return found
}
