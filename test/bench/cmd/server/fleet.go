package main

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"time"

	"github.com/cadastre/cadastre/test/bench/serverbench"
	"github.com/cadastre/cadastre/test/bench/stat"
)

// compareFleet fills a data folder once, and starts Cadastre with it in every round.
func compareFleet(ctx context.Context, o options, s serverbench.Implementations) ([]stat.Finding, error) {
	name := fmt.Sprintf("ready/%d", o.objects)
	if s.Cadastre == nil || !o.Selected.MatchString(name) {
		return nil, nil
	}
	fleet := serverbench.Fleet{Objects: o.objects}
	folder := filepath.Join(o.Folder, "fleet")
	var bytes int64
	began := time.Now()
	err := withServer(ctx, *s.Cadastre, folder, func(server *serverbench.Server) (err error) {
		bytes, err = fleet.Fill(ctx, server, 0)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: filling: %w", name, err)
	}
	fmt.Printf("\n%d objects were applied in %v\n", o.objects, time.Since(began).Round(time.Second))
	var rounds []start
	for range o.Rounds {
		r, err := openOnce(ctx, *s.Cadastre, folder, func(server *serverbench.Server) (serverbench.Result, error) {
			return fleet.Work(ctx, server, o.Load)
		})
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		r.json = bytes
		rounds = append(rounds, r)
	}
	printStartHeader()
	printStart(name, cadastreName, rounds)
	fmt.Print(startFootnotes)
	return []stat.Finding{
		stat.Found(name+" time", stat.Over(rounds, start.Seconds)),
		stat.Found(name+" memory", stat.Over(rounds, start.PerJSON)),
	}, nil
}

// withServer starts a server, calls use, and stops the server.
func withServer(ctx context.Context, implementation serverbench.Implementation, folder string, use func(*serverbench.Server) error) (err error) {
	server, err := implementation.Start(ctx, folder)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, server.Stop()) }()
	return use(server)
}

const (
	// fewObjects is the number of objects with which compareLarge starts.
	fewObjects = 1_000
	// largeFactor multiplies -objects if -large is set.
	largeFactor = 10
)

const largeFormat = "%-16s %10s %9s %9s %9s %9s %9s\n"

// compareLarge measures applies that change objects, first with few and then with many objects in the store. The CPU time
// per apply should not depend on the number of objects.
func compareLarge(ctx context.Context, o options, s serverbench.Implementations) ([]stat.Finding, error) {
	const name = "apply/objects"
	if s.Cadastre == nil || !o.large || !o.Selected.MatchString(name) {
		return nil, nil
	}
	all := largeFactor * o.objects
	var few, many []turn
	err := withServer(ctx, *s.Cadastre, filepath.Join(o.Folder, "large"), func(server *serverbench.Server) (err error) {
		if few, err = fillAndChange(ctx, o, server, 0, fewObjects); err != nil {
			return err
		}
		many, err = fillAndChange(ctx, o, server, fewObjects, all)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	fmt.Printf("\n"+largeFormat, "case", "objects", "op/s", "p50", "p99", "CPU", "RSS")
	for _, row := range []struct {
		objects int
		turns   []turn
	}{{fewObjects, few}, {all, many}} {
		fmt.Printf(largeFormat, name, fmt.Sprint(row.objects), stat.Shown(row.turns, turn.Rate, stat.Count), stat.Shown(row.turns, turn.P50, stat.Nanoseconds),
			stat.Shown(row.turns, turn.P99, stat.Nanoseconds), stat.Shown(row.turns, turn.CPU, stat.Nanoseconds), stat.Shown(row.turns, turn.Resident, mebibytes))
	}
	return []stat.Finding{stat.Found(name+" growth", stat.Ratio(many, few, turn.CPU))}, nil
}

func fillAndChange(ctx context.Context, o options, server *serverbench.Server, some, all int) (turns []turn, err error) {
	fleet := serverbench.Fleet{Objects: all}
	if _, err := fleet.Fill(ctx, server, some); err != nil {
		return nil, err
	}
	for range o.Rounds {
		if err := server.Settle(ctx); err != nil {
			return nil, err
		}
		r, err := fleet.Change(ctx, server, o.Load)
		if err != nil {
			return nil, err
		}
		turns = append(turns, requestTurn(r))
	}
	return turns, nil
}
