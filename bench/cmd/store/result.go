package main

import (
	"context"
	"errors"
	"os"
	"slices"
	"syscall"
	"time"

	"github.com/cadastre/cadastre/bench/storebench"
)

// A result is the rounds of a case.
type result struct {
	benchCase
	ours, etcd []storebench.Result
}

// A turn is one side's, and where its result goes.
type turn struct {
	side storebench.Side
	to   *[]storebench.Result
}

// measure lets the sides take turns; who is first changes from round to round, since a turn may leave
// the disk something to do.
func measure(ctx context.Context, c benchCase, o options) (result, error) {
	r := result{benchCase: c}
	turns := []turn{{storebench.Ours, &r.ours}, {storebench.Etcd, &r.etcd}}
	for range o.rounds {
		for _, t := range turns {
			figures, err := t.take(ctx, c, o)
			if err != nil {
				return result{}, err
			}
			*t.to = append(*t.to, figures)
		}
		slices.Reverse(turns)
	}
	return r, nil
}

func (t turn) take(ctx context.Context, c benchCase, o options) (figures storebench.Result, err error) {
	folder, err := os.MkdirTemp(o.folder, "bench-store-")
	if err != nil {
		return storebench.Result{}, err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// The disk starts clean, so that nobody waits for another's writes.
	syscall.Sync()
	return t.side(ctx, folder, storebench.Load{
		Writers:  c.writers,
		Watchers: c.watchers,
		Warmup:   min(o.turn/4, time.Second),
		Window:   o.turn,
	})
}

// faster is how many times etcd's commits a second we do.
func (r result) faster() storebench.Spread {
	return storebench.Ratio(r.ours, r.etcd, storebench.Result.CommitRate)
}

// cheaper is how many times our CPU a commit etcd uses.
func (r result) cheaper() storebench.Spread {
	return storebench.Ratio(r.etcd, r.ours, storebench.Result.CPUPerCommit)
}

// livelier is how many times etcd's events a second we deliver.
func (r result) livelier() storebench.Spread {
	return storebench.Ratio(r.ours, r.etcd, storebench.Result.EventRate)
}
