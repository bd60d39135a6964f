package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

// A table shows the results of cases that are alike.
type table struct {
	format    string
	columns   []any
	cells     func(result) []any
	footnotes string
}

var commitTable = table{
	format: "%-12s %9s %9s %7s %9s %9s %9s %9s %9s %9s %8s\n",
	columns: []any{"case", "ours/s", "etcd/s", "faster", "ours p50", "p99", "etcd p50", "p99",
		"ours CPU", "etcd CPU", "cheaper"},
	cells: func(r result) []any {
		return []any{
			r.name,
			rate(r.ours, storebench.Result.CommitRate), rate(r.etcd, storebench.Result.CommitRate), stat.Times(r.faster().Median),
			latency(r.ours, p50), latency(r.ours, p99), latency(r.etcd, p50), latency(r.etcd, p99),
			latency(r.ours, storebench.Result.CPUPerCommit), latency(r.etcd, storebench.Result.CPUPerCommit), stat.Times(r.cheaper().Median),
		}
	},
	footnotes: `
a commit: compare-and-swap of 3 KB at one key, answered when it is on disk; faster: our commits by etcd's.
CPU: of the store's process, a commit; cheaper: etcd's by ours. Ours has the writers in it, as they are in
the process with the store. Etcd's has its gRPC server in it, but not its clients, which are in another
process on the same cores. So latencies, too, are those of a call here and of a request there.
`,
}

var watchTable = table{
	format:  "%-12s %10s %10s %7s %10s %10s %12s %12s\n",
	columns: []any{"case", "ours ev/s", "etcd ev/s", "more", "ours/s", "etcd/s", "ours deliv.", "etcd deliv."},
	cells: func(r result) []any {
		return []any{
			r.name,
			rate(r.ours, storebench.Result.EventRate), rate(r.etcd, storebench.Result.EventRate), stat.Times(r.livelier().Median),
			rate(r.ours, storebench.Result.CommitRate), rate(r.etcd, storebench.Result.CommitRate),
			percent(r.ours, storebench.Result.Delivered), percent(r.etcd, storebench.Result.Delivered),
		}
	},
	footnotes: `
events of all watchers together, each with the value and the one before, while 64 writers commit; more: our
events by etcd's. deliv.: events by commits and watchers, under 100% if watchers fell behind. Ours share
their events in memory; etcd's cross a connection each.
`,
}

var cacheTable = table{
	format: "%-22s %10s %10s %7s %8s %8s %9s %9s %8s %7s %8s %7s %8s %7s\n",
	columns: []any{"case", "ours ev/s", "etcd ev/s", "more", "ours/s", "etcd/s", "CPU/ev.", "etcd's", "ev./call",
		"deliv.", "etcd's", "lag", "missing", "cut off"},
	cells: func(r result) []any {
		return append([]any{
			r.name,
			rate(r.ours, storebench.Result.EventRate), rate(r.etcd, storebench.Result.EventRate), r.more(),
			rate(r.ours, storebench.Result.CommitRate), rate(r.etcd, storebench.Result.CommitRate),
			latency(r.ours, storebench.Result.CPUPerEvent), latency(r.etcd, storebench.Result.CPUPerEvent),
			stat.Shown(r.ours, storebench.Result.EventsPerCall, func(n float64) string { return fmt.Sprintf("%.1f", n) }),
			percent(r.ours, storebench.Result.Delivered), percent(r.etcd, storebench.Result.Delivered),
		}, worst(r.ours)...)
	},
	footnotes: `
as above, but written and watched through the cache, by 64 writers, from 1,000 watchers on by 8: what the
rest takes is then next to nothing. One watcher can get no more than is committed. CPU/ev.: of the process
with store, cache, writers and watchers, an event that a watcher got; etcd's: of its process, without its
clients. ev./call: how many events a watcher of ours got at once. The more watchers, the later each has its
turn and the more it gets at once, so that CPU/ev. falls: it does not tell what one more watcher costs.
Watchers only count; nothing is encoded or sent. lag: how long after the last commit the last watcher had all. missing: events that nobody got in
as long as was measured; cut off: how often a watcher was too slow and had to start anew; both at worst.
`,
}

// more is how many times etcd's events ours are, if etcd had a turn.
func (r result) more() string {
	if len(r.etcd) == 0 {
		return "-"
	}
	return stat.Times(r.livelier().Median)
}

// worst is what watchers did not get, or late.
func worst(rounds []storebench.Result) []any {
	most := func(figure func(storebench.Result) float64) float64 { return stat.Over(rounds, figure).Most }
	return []any{
		stat.ThreeDigits(time.Duration(most(func(r storebench.Result) float64 { return float64(r.Lag) }))).String(),
		stat.Count(most(func(r storebench.Result) float64 { return float64(r.Missing) })),
		stat.Count(most(func(r storebench.Result) float64 { return float64(r.CutOff) })),
	}
}

func (t table) printHeader() {
	fmt.Println()
	fmt.Printf(t.format, t.columns...)
}

func (t table) print(r result) { fmt.Printf(t.format, t.cells(r)...) }

func p50(r storebench.Result) float64 { return float64(r.P50) }
func p99(r storebench.Result) float64 { return float64(r.P99) }

func rate(rounds []storebench.Result, figure func(storebench.Result) float64) string {
	return stat.Shown(rounds, figure, stat.Count)
}

func percent(rounds []storebench.Result, figure func(storebench.Result) float64) string {
	return stat.Shown(rounds, figure, func(share float64) string { return fmt.Sprintf("%.0f%%", 100*share) })
}

func latency[R any](rounds []R, figure func(R) float64) string {
	return stat.Shown(rounds, figure, stat.Nanoseconds)
}
