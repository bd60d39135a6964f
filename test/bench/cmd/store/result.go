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

// A result is the rounds of a case; etcd has none if the case is not for it.
type result struct {
	benchCase
	ours, etcd []storebench.Result
}

// A turn is one side's, with its load, and where its result goes.
type turn struct {
	side storebench.Side
	load storebench.Load
	to   *[]storebench.Result
}

func measure(ctx context.Context, c benchCase, o options) (result, error) {
	r := result{benchCase: c}
	turns := []turn{{c.ours, c.load(o), &r.ours}}
	if !c.noPeer {
		turns = append(turns, turn{storebench.Etcd, c.load(o), &r.etcd})
	}
	err := takeTurns(ctx, o, o.rounds, turns) // it fills r
	return r, err
}

// takeTurns lets the sides take turns; who is first changes from round to round, since a turn may leave
// the disk something to do.
func takeTurns(ctx context.Context, o options, rounds int, turns []turn) error {
	for range rounds {
		for _, t := range turns {
			figures, err := t.take(ctx, o)
			if err != nil {
				return err
			}
			*t.to = append(*t.to, figures)
		}
		slices.Reverse(turns)
	}
	return nil
}

func (t turn) take(ctx context.Context, o options) (figures storebench.Result, err error) {
	err = inFolder(o, func(folder string) error {
		figures, err = t.side(ctx, folder, t.load)
		return err
	})
	return figures, err
}

// inFolder makes an empty folder and removes it afterwards.
func inFolder(o options, use func(folder string) error) (err error) {
	folder, err := os.MkdirTemp(o.folder, "bench-store-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// The disk starts clean, so that nobody waits for another's writes.
	syscall.Sync()
	return use(folder)
}

// faster is how many times etcd's commits a second we do.
func (r result) faster() stat.Spread {
	return stat.Ratio(r.ours, r.etcd, storebench.Result.CommitRate)
}

// cheaper is how many times our CPU a commit etcd uses.
func (r result) cheaper() stat.Spread {
	return stat.Ratio(r.etcd, r.ours, storebench.Result.CPUPerCommit)
}

// livelier is how many times etcd's events a second we deliver.
func (r result) livelier() stat.Spread {
	return stat.Ratio(r.ours, r.etcd, storebench.Result.EventRate)
}

// lost is how many events our watchers never got, and how often one was cut off.
func (r result) lost() stat.Spread {
	return stat.Over(r.ours, func(r storebench.Result) float64 { return float64(r.Missing) + float64(r.CutOff) })
}
