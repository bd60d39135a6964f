package main

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/test/bench/storebench"
)

// rounds returns one result with a window of two seconds. cpu, p50 and p99 are in milliseconds.
func rounds(commits int, events int64, cpu, p50, p99 time.Duration) []storebench.Result {
	return []storebench.Result{{
		Load:    storebench.Load{Writers: 64, Watchers: 10, Window: 2 * time.Second},
		Commits: commits, Events: events, Calls: events / 4,
		CPU: cpu * time.Millisecond, P50: p50 * time.Millisecond, P99: p99 * time.Millisecond,
	}}
}

func TestTables(t *testing.T) {
	r := result{
		benchCase: writerCase(64),
		cadastre:  rounds(8000, 80_000, 800, 2, 9),
		etcd:      rounds(2000, 10_000, 600, 12, 123),
	}
	for _, test := range []struct {
		table table
		want  string
	}{
		{commitTable, "writers/64 4000 1000 4.0x 2ms 9ms 12ms 123ms 100µs 300µs 3.0x"},
		{watchTable, "writers/64 40000 5000 8.0x 4000 1000 100% 50%"},
		{cacheTable, "writers/64 40000 5000 8.0x 4000 1000 10µs 60µs 4.0 100% 50% 0s 0 0"},
	} {
		cells := test.table.cells(r)
		if got := strings.Join(strings.Fields(fmt.Sprintln(cells...)), " "); got != test.want {
			t.Errorf("row = %q, want %q", got, test.want)
		}
		if len(cells) != len(test.table.columns) || len(cells) != strings.Count(test.table.format, "%") {
			t.Errorf("row has %d cells, want %d for the format %q", len(cells), len(test.table.columns), test.table.format)
		}
	}
}

// TestWithoutEtcd checks that the cells of etcd are dashes if etcd was not measured.
func TestWithoutEtcd(t *testing.T) {
	r := result{benchCase: cacheWatcherCase(10, 64).withoutEtcd(), cadastre: rounds(8000, 80_000, 800, 2, 9)}
	r.cadastre[0].Lag, r.cadastre[0].Missing, r.cadastre[0].CutOff = time.Second, 2, 3
	const want = "cache/watchers/10 40000 - - 4000 - 10µs - 4.0 100% - 1s 2 3"
	if got := strings.Join(strings.Fields(fmt.Sprintln(cacheTable.cells(r)...)), " "); got != want {
		t.Errorf("row = %q, want %q", got, want)
	}
}

// TestGrowth checks that growth considers only cases with at least fanOutWatchers watchers.
func TestGrowth(t *testing.T) {
	results := func(cpu ...time.Duration) (results []result) {
		for i, watchers := range []int{10, 100, 1000, 10_000} {
			results = append(results, result{benchCase: cacheWatcherCase(watchers, 8), cadastre: rounds(1, 1000, cpu[i], 1, 1)})
		}
		return results
	}
	for _, test := range []struct {
		results []result
		want    float64
	}{
		{results(1, 100, 200, 150), 2},
		{results(900, 400, 300, 200), 0.75},
		{results(1, 100, 50, 150), 3},
	} {
		if got, ok := growth(test.results); !ok || got.Median != test.want {
			t.Errorf("growth() = %v, %v, want %v", got, ok, test.want)
		}
	}
	if _, ok := growth(results(1, 1, 1, 1)[:2]); ok {
		t.Error("growth() of one case = _, true, want false")
	}
}

// TestGoalsAreMeasured checks that every goal belongs to a case.
func TestGoalsAreMeasured(t *testing.T) {
	var names []string
	for _, cases := range [][]benchCase{commitCases, cacheCases} {
		for _, c := range cases {
			names = append(names, c.name)
		}
	}
	for _, c := range fleetCases(options{objects: 100_000, large: true}) {
		names = append(names, c.openName(), c.openName()+"/paced", c.listName())
	}
	names = append(names, "cache/watchers", fmt.Sprintf("cache/labels/%d", labelWatchers))
	for _, g := range goals {
		if name, _, _ := strings.Cut(g.Of, " "); !slices.Contains(names, name) {
			t.Errorf("goal %s: no case %s", g.Text, name)
		}
	}
}
