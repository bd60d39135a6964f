package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/bench/storebench"
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
			rate(r.ours, storebench.Result.CommitRate), rate(r.etcd, storebench.Result.CommitRate), times(r.faster().Median),
			latency(r.ours, p50), latency(r.ours, p99), latency(r.etcd, p50), latency(r.etcd, p99),
			latency(r.ours, storebench.Result.CPUPerCommit), latency(r.etcd, storebench.Result.CPUPerCommit), times(r.cheaper().Median),
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
			rate(r.ours, storebench.Result.EventRate), rate(r.etcd, storebench.Result.EventRate), times(r.livelier().Median),
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

func (t table) printHeader() {
	fmt.Println()
	fmt.Printf(t.format, t.columns...)
}

func (t table) print(r result) { fmt.Printf(t.format, t.cells(r)...) }

func p50(r storebench.Result) float64 { return float64(r.P50) }
func p99(r storebench.Result) float64 { return float64(r.P99) }

func rate(rounds []storebench.Result, figure func(storebench.Result) float64) string {
	return fmt.Sprintf("%.0f", storebench.Median(rounds, figure))
}

func percent(rounds []storebench.Result, figure func(storebench.Result) float64) string {
	return fmt.Sprintf("%.0f%%", 100*storebench.Median(rounds, figure))
}

func latency(rounds []storebench.Result, figure func(storebench.Result) float64) string {
	return threeDigits(time.Duration(storebench.Median(rounds, figure))).String()
}

func threeDigits(d time.Duration) time.Duration {
	unit := time.Duration(1)
	for d/unit >= 1000 {
		unit *= 10
	}
	return d.Round(unit)
}

func times(ratio float64) string { return fmt.Sprintf("%.1fx", ratio) }
