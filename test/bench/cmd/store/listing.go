package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

// listRounds is the number of times that the list case is measured for each value of -rounds. It is more than one
// because a list is fast.
const listRounds = 5

const listFootnotes = `
time: listing, and encoding all objects as JSON with their revision to a buffer of 1 MiB that is reused when it is full, on one
core; memcpy: copying the same bytes, from separate memory per object, in the same order to the same buffer. speed: the rate of
the list divided by memcpy's. get: the part of the time in which the cache returns the objects. There is no network. short:
without managedFields. etcd's list uses a connection, in pages of 500; etcd's CPU is that of its process, without its client.
`

func (c fleetCase) compareListing(ctx context.Context, o options, folder string, etcd []storebench.EtcdFleet) ([]stat.Finding, error) {
	l, err := c.List(ctx, folder, o.rounds*listRounds)
	if err != nil {
		return nil, err
	}
	const format = "%-26s %9s %9s %9s %9s %9s %9s\n"
	fmt.Printf("\n"+format, "case", "bytes", "time", "get", "GB/s", "memcpy", "speed")
	row := func(name string, bytes int64, listed, copied func(storebench.ListRound) time.Duration, speed stat.Spread) {
		fmt.Printf(format, name, megabytes(bytes), duration(l.Rounds, listed),
			duration(l.Rounds, func(r storebench.ListRound) time.Duration { return r.Take }),
			gigabytes(bytes, l.Rounds, listed), gigabytes(bytes, l.Rounds, copied), stat.Times2(speed.Median))
	}
	whole := stat.Over(l.Rounds, storebench.ListRound.WholeFraction)
	short := stat.Over(l.Rounds, storebench.ListRound.ShortFraction)
	row(c.listName(), l.Whole, func(r storebench.ListRound) time.Duration { return r.Whole },
		func(r storebench.ListRound) time.Duration { return r.CopyWhole }, whole)
	row(c.listName()+" short", l.Short, func(r storebench.ListRound) time.Duration { return r.Short },
		func(r storebench.ListRound) time.Duration { return r.CopyShort }, short)
	if len(etcd) > 0 {
		listed := func(p storebench.EtcdFleet) time.Duration { return p.List }
		fmt.Printf(format, "etcd", megabytes(etcd[0].Bytes), duration(etcd, listed), "", gigabytes(etcd[0].Bytes, etcd, listed), "", "")
		fmt.Printf("etcd's process used %s of CPU time for the list.\n", duration(etcd, func(p storebench.EtcdFleet) time.Duration { return p.ListCPU }))
	}
	fmt.Print(listFootnotes)
	return []stat.Finding{stat.Found(c.listName()+" whole", whole), stat.Found(c.listName()+" short", short)}, nil
}

func megabytes(bytes int64) string { return fmt.Sprintf("%.0fMB", float64(bytes)/1e6) }

func duration[R any](rounds []R, of func(R) time.Duration) string {
	return latency(rounds, func(r R) float64 { return float64(of(r)) })
}

func gigabytes[R any](bytes int64, rounds []R, of func(R) time.Duration) string {
	return fmt.Sprintf("%.2f", stat.Median(rounds, func(r R) float64 { return float64(bytes) / 1e9 / of(r).Seconds() }))
}
