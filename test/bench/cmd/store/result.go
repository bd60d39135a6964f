package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

// result contains the measurements of a case.
type result struct {
	benchCase
	cadastre []storebench.Result // one result per round
	etcd     []storebench.Result // one result per round; nil if the case skips etcd
}

// turn is a load on one implementation. The result is appended to *results.
type turn struct {
	implementation storebench.Implementation
	load           storebench.Load
	results        *[]storebench.Result
}

func measure(ctx context.Context, c benchCase, o options) (result, error) {
	r := result{benchCase: c}
	turns := []turn{{c.cadastre, c.load(o), &r.cadastre}}
	if !c.skipEtcd {
		turns = append(turns, turn{storebench.Etcd, c.load(o), &r.etcd})
	}
	err := takeTurns(ctx, o, o.rounds, turns) // takeTurns appends the results to r
	return r, err
}

// takeTurns measures all implementations once in every round. Their order alternates between rounds, because the
// measurement of one implementation may leave disk writes pending, which slow down the next measurement.
func takeTurns(ctx context.Context, o options, rounds int, turns []turn) error {
	for range rounds {
		for _, t := range turns {
			figures, err := t.take(ctx, o)
			if err != nil {
				return err
			}
			*t.results = append(*t.results, figures)
		}
		slices.Reverse(turns)
	}
	return nil
}

func (t turn) take(ctx context.Context, o options) (figures storebench.Result, err error) {
	err = withTempFolder(o, func(folder string) error {
		figures, err = t.implementation(ctx, folder, t.load)
		return err
	})
	return figures, err
}

// withTempFolder creates a temporary folder, calls use with it, and removes it.
func withTempFolder(o options, use func(folder string) error) (err error) {
	folder, err := os.MkdirTemp(o.folder, "bench-store-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// Flush disk writes that previous turns left pending, so that they do not slow down this turn.
	syscall.Sync()
	return use(folder)
}

// commitSpeedup returns the commit rate of Cadastre's store divided by etcd's.
func (r result) commitSpeedup() stat.Spread {
	return stat.Ratio(r.cadastre, r.etcd, storebench.Result.CommitRate)
}

// cpuRatio returns etcd's CPU time per commit divided by that of Cadastre's store.
func (r result) cpuRatio() stat.Spread {
	return stat.Ratio(r.etcd, r.cadastre, storebench.Result.CPUPerCommit)
}

// eventRatio returns the event rate of Cadastre's store divided by etcd's.
func (r result) eventRatio() stat.Spread {
	return stat.Ratio(r.cadastre, r.etcd, storebench.Result.EventRate)
}

// lostEvents returns the number of events that Cadastre's watchers did not receive, plus the number of watches that
// failed with ErrTooOld.
func (r result) lostEvents() stat.Spread {
	return stat.Over(r.cadastre, func(r storebench.Result) float64 { return float64(r.Missing) + float64(r.CutOff) })
}
