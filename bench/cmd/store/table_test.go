package main

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/bench/storebench"
)

// rounds are of two seconds; latencies and CPU are in milliseconds.
func rounds(commits int, events int64, cpu, p50, p99 time.Duration) []storebench.Result {
	return []storebench.Result{{
		Load:    storebench.Load{Writers: 64, Watchers: 10, Window: 2 * time.Second},
		Commits: commits, Events: events,
		CPU: cpu * time.Millisecond, P50: p50 * time.Millisecond, P99: p99 * time.Millisecond,
	}}
}

func TestTables(t *testing.T) {
	r := result{
		benchCase: writers(64),
		ours:      rounds(8000, 80_000, 800, 2, 9),
		etcd:      rounds(2000, 10_000, 600, 12, 123),
	}
	for _, test := range []struct {
		table table
		want  string
	}{
		{commitTable, "writers/64 4000 1000 4.0x 2ms 9ms 12ms 123ms 100µs 300µs 3.0x"},
		{watchTable, "writers/64 40000 5000 8.0x 4000 1000 100% 50%"},
	} {
		cells := test.table.cells(r)
		if got := strings.Join(strings.Fields(fmt.Sprintln(cells...)), " "); got != test.want {
			t.Errorf("row %q, want %q", got, test.want)
		}
		if len(cells) != len(test.table.columns) || len(cells) != strings.Count(test.table.format, "%") {
			t.Errorf("%d cells for %d columns in %q", len(cells), len(test.table.columns), test.table.format)
		}
	}
}

func TestThreeDigits(t *testing.T) {
	for d, want := range map[time.Duration]string{
		999:        "999ns",
		1234:       "1.23µs",
		45678:      "45.7µs",
		999999:     "1ms",
		1234567:    "1.23ms",
		98765432:   "98.8ms",
		1234567890: "1.23s",
	} {
		if got := threeDigits(d).String(); got != want {
			t.Errorf("%d is %s, want %s", d, got, want)
		}
	}
}

func TestVerdicts(t *testing.T) {
	results := []result{
		{benchCase: writers(8), ours: rounds(1, 0, 1, 1, 1), etcd: rounds(1, 0, 1, 1, 1)},
		// Four times the commits, at two thirds of the CPU a commit.
		{benchCase: writers(64), ours: rounds(4000, 0, 800, 1, 1), etcd: rounds(1000, 0, 300, 1, 1)},
	}
	for i, want := range []string{"pass  64 writers", "FAIL  64 writers"} {
		if got := goals[i].verdict(results); !strings.HasPrefix(got, want) {
			t.Errorf("verdict %q, want %q", got, want)
		}
	}
	if got := goals[0].verdict(results[:1]); !strings.HasPrefix(got, "----") {
		t.Errorf("a goal whose case did not run: %q", got)
	}
}
