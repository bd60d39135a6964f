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

// result has the rounds of a case; none of etcd if the case excludes it.
type result struct {
	benchCase
	ours, etcd []storebench.Result
}

// turn is a side with its load, and the destination of its result.
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
	err := takeTurns(ctx, o, o.rounds, turns) // appends to r
	return r, err
}

// takeTurns measures the sides in turns; the order alternates between rounds, because a turn may leave pending writes
// of the disk.
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

// inFolder creates an empty folder, calls use, and removes the folder.
func inFolder(o options, use func(folder string) error) (err error) {
	folder, err := os.MkdirTemp(o.folder, "bench-store-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(folder)) }()
	// Pending writes of other turns are flushed first.
	syscall.Sync()
	return use(folder)
}

// faster returns our commit rate divided by etcd's.
func (r result) faster() stat.Spread {
	return stat.Ratio(r.ours, r.etcd, storebench.Result.CommitRate)
}

// cheaper returns etcd's CPU time per commit divided by ours.
func (r result) cheaper() stat.Spread {
	return stat.Ratio(r.etcd, r.ours, storebench.Result.CPUPerCommit)
}

// livelier returns our event rate divided by etcd's.
func (r result) livelier() stat.Spread {
	return stat.Ratio(r.ours, r.etcd, storebench.Result.EventRate)
}

// lost returns the number of events that our watchers missed, plus the number of watches that failed with ErrTooOld.
func (r result) lost() stat.Spread {
	return stat.Over(r.ours, func(r storebench.Result) float64 { return float64(r.Missing) + float64(r.CutOff) })
}
