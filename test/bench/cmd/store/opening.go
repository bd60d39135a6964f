package main

import (
	"context"
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

const (
	openFormat    = "%-26s %5s %8s %8s %8s %9s %7s %7s %7s %7s %9s %7s %8s\n"
	openFootnotes = `
time: from the start of opening the store until the cache serves, in a new process; the files are in the page cache, and a first
round is not counted. store: the part until the store is open; the cache reads it afterwards. GC: Go's default pacing, or paced
by the cache. The other columns are memory divided by the size of the objects' JSON. live: Go's heap after a collection; /obj.:
heap per object without its JSON. left: RSS after opening; peak: maximum until then. collected: RSS after a collection. work:
maximum RSS while garbage is allocated, until two collections are done. target: heap size at which a collection starts. Objects
have one version each, written one namespace at a time; they can be selected by labels, spec.nodeName and status.phase.
`
)

func (c fleetCase) compareOpening(ctx context.Context, o options, folder string, etcd []storebench.EtcdFleet) ([]stat.Finding, error) {
	fmt.Printf("\n"+openFormat, "case", "GC", "time", "store", "CPU", "bytes", "live", "/obj.", "left", "peak", "collected", "work", "target")
	var found []stat.Finding
	for _, paced := range []bool{false, true} {
		rounds, err := c.openRounds(ctx, folder, paced, o.rounds)
		if err != nil {
			return nil, err
		}
		printOpening(c.openName(), rounds)
		name := c.openName()
		if paced {
			name += "/paced"
		}
		found = append(found,
			stat.Found(name+" time", stat.Over(rounds, storebench.Opening.Seconds)),
			stat.Found(name+" live", memory(rounds, live)),
			stat.Found(name+" resident", memory(rounds, workPeak)))
	}
	fmt.Print(openFootnotes)
	if len(etcd) > 0 {
		start := time.Duration(stat.Median(etcd, func(p storebench.EtcdFleet) float64 { return float64(p.Start) }))
		fmt.Printf("etcd with the same objects completes its first linearizable read %v after the start of its process.\n", stat.ThreeDigits(start))
	}
	return found, nil
}

func (c fleetCase) openRounds(ctx context.Context, folder string, paced bool, count int) (rounds []storebench.Opening, err error) {
	if !paced {
		// The first round is not counted, because the machine may have to free memory, and the store may have to finish
		// background work that filling it has caused.
		count++
	}
	for range count {
		r, err := c.Open(ctx, folder, paced)
		if err != nil {
			return nil, err
		}
		rounds = append(rounds, r)
	}
	if !paced {
		rounds = rounds[1:]
	}
	return rounds, nil
}

func printOpening(name string, rounds []storebench.Opening) {
	collector := "Go's"
	if rounds[0].Paced {
		collector = "paced"
	}
	ratio := func(of func(storebench.Memory) int64) string { return stat.Times2(memory(rounds, of).Median) }
	fmt.Printf(openFormat, name, collector,
		latency(rounds, func(o storebench.Opening) float64 { return float64(o.Time) }),
		latency(rounds, func(o storebench.Opening) float64 { return float64(o.Store) }),
		latency(rounds, func(o storebench.Opening) float64 { return float64(o.CPU) }),
		fmt.Sprintf("%.0fMB", float64(rounds[0].Bytes)/1e6),
		ratio(live), fmt.Sprintf("%.0fB", stat.Median(rounds, storebench.Opening.PerObject)),
		ratio(func(m storebench.Memory) int64 { return m.Opened }),
		ratio(func(m storebench.Memory) int64 { return m.OpenedPeak }),
		ratio(func(m storebench.Memory) int64 { return m.Collected }),
		ratio(workPeak),
		ratio(func(m storebench.Memory) int64 { return m.Target }))
}

func live(m storebench.Memory) int64     { return m.Live }
func workPeak(m storebench.Memory) int64 { return m.WorkPeak }

// memory returns the given figure of each round, divided by the total size of the objects in JSON.
func memory(rounds []storebench.Opening, figure func(storebench.Memory) int64) stat.Spread {
	return stat.Over(rounds, func(o storebench.Opening) float64 { return o.Ratio(figure(o.Memory)) })
}
