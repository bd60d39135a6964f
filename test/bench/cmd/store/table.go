package main

import (
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
	"github.com/cadastre/cadastre/test/bench/storebench"
)

// table is the format of a table whose rows are the results of similar cases.
type table struct {
	format    string
	columns   []any
	cells     func(result) []any
	footnotes string
}

var commitTable = table{
	format: "%-12s %10s %9s %7s %12s %9s %9s %9s %12s %9s %8s\n",
	columns: []any{"case", "cadastre/s", "etcd/s", "faster", "cadastre p50", "p99", "etcd p50", "p99",
		"cadastre CPU", "etcd CPU", "cheaper"},
	cells: func(r result) []any {
		return []any{
			r.name,
			rate(r.cadastre, storebench.Result.CommitRate), rate(r.etcd, storebench.Result.CommitRate), stat.Times(r.commitSpeedup().Median),
			latency(r.cadastre, p50), latency(r.cadastre, p99), latency(r.etcd, p50), latency(r.etcd, p99),
			latency(r.cadastre, storebench.Result.CPUPerCommit), latency(r.etcd, storebench.Result.CPUPerCommit), stat.Times(r.cpuRatio().Median),
		}
	},
	footnotes: `
commit: compare-and-swap of 3 KB at one key, acknowledged when it is on disk; faster: Cadastre's rate divided by etcd's. CPU: CPU
time of the store's process per commit; cheaper: etcd's CPU time divided by Cadastre's. Cadastre's CPU time includes the writers,
which are in the process of the store. Etcd's CPU time includes its gRPC server, but not its clients, which are in another process
on the same cores. The latency is that of a function call for Cadastre and of a request for etcd.
`,
}

var watchTable = table{
	format:  "%-12s %13s %10s %7s %10s %10s %15s %12s\n",
	columns: []any{"case", "cadastre ev/s", "etcd ev/s", "more", "cadastre/s", "etcd/s", "cadastre deliv.", "etcd deliv."},
	cells: func(r result) []any {
		return []any{
			r.name,
			rate(r.cadastre, storebench.Result.EventRate), rate(r.etcd, storebench.Result.EventRate), stat.Times(r.eventRatio().Median),
			rate(r.cadastre, storebench.Result.CommitRate), rate(r.etcd, storebench.Result.CommitRate),
			percent(r.cadastre, storebench.Result.Delivered), percent(r.etcd, storebench.Result.Delivered),
		}
	},
	footnotes: `
events of all watchers, each with the new and the previous value, while 64 writers commit; more: Cadastre's rate divided by
etcd's. deliv.: events divided by commits and watchers, below 100% if watchers fell behind. Cadastre's watchers share events in
memory; each of etcd's watchers uses a connection.
`,
}

var cacheTable = table{
	format: "%-22s %13s %10s %7s %10s %8s %9s %9s %8s %7s %8s %7s %8s %7s\n",
	columns: []any{"case", "cadastre ev/s", "etcd ev/s", "more", "cadastre/s", "etcd/s", "CPU/ev.", "etcd's", "ev./call",
		"deliv.", "etcd's", "lag", "missing", "cut off"},
	cells: func(r result) []any {
		return append([]any{
			r.name,
			rate(r.cadastre, storebench.Result.EventRate), rate(r.etcd, storebench.Result.EventRate), r.eventRatioText(),
			rate(r.cadastre, storebench.Result.CommitRate), rate(r.etcd, storebench.Result.CommitRate),
			latency(r.cadastre, storebench.Result.CPUPerEvent), latency(r.etcd, storebench.Result.CPUPerEvent),
			stat.Shown(r.cadastre, storebench.Result.EventsPerCall, func(n float64) string { return fmt.Sprintf("%.1f", n) }),
			percent(r.cadastre, storebench.Result.Delivered), percent(r.etcd, storebench.Result.Delivered),
		}, worstCells(r.cadastre)...)
	},
	footnotes: `
as above, but written and watched through the watch cache: by 64 writers, or by 8 writers if there are 1,000 or more watchers. A single watcher cannot
receive more events than are committed. CPU/ev.: CPU time of the process with store, cache, writers and watchers per received
event; etcd's: CPU time of etcd's process, without its clients. ev./call: events per call of Cadastre's watchers. With more watchers each is
scheduled later and receives more events per call, so that CPU/ev. falls: it is not the cost of one more watcher. Watchers only
count; nothing is encoded or sent. lag: time from the last commit until the last watcher has received all events. missing: events
that were not received during the measurement; cut off: watches that failed with ErrTooOld and were restarted; both are maxima.
`,
}

// eventRatioText formats the event rate of Cadastre's store divided by etcd's. It returns "-" if etcd was not measured.
func (r result) eventRatioText() string {
	if len(r.etcd) == 0 {
		return "-"
	}
	return stat.Times(r.eventRatio().Median)
}

// worstCells returns three cells with maxima over the rounds: the lag, the number of missing events, and the number of
// failed watches.
func worstCells(rounds []storebench.Result) []any {
	most := func(figure func(storebench.Result) float64) float64 { return stat.Over(rounds, figure).Max }
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
