package main

import (
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/test/bench"
	"github.com/cadastre/cadastre/test/bench/fixture"
)

func TestVerdicts(t *testing.T) {
	sample := func(d time.Duration, allocs float64) []bench.Sample { return []bench.Sample{{Time: d, Allocs: allocs}} }
	r := func(operation bench.Operation, ours, peer, floor time.Duration) result {
		c := bench.Case{Object: &fixture.Object{Name: "X"}, Operation: operation}
		return result{Comparison: c, operation: operation, ours: sample(ours, 10), peer: sample(peer, 300), floor: sample(floor, 0)}
	}
	results := []result{
		r(bench.Change, 10, 50, 5),
		r(bench.NoOp, 10, 250, 2),
	}
	// The speedups are 5 and 25, the ratios to the floor 2 and 5, the allocations a thirtieth.
	for i, want := range []string{
		"pass  geometric mean", "pass  no case under", "FAIL  every no-op", "pass  allocations", "FAIL  at most 3x",
	} {
		if got := goals[i].verdict(results); !strings.HasPrefix(got, want) {
			t.Errorf("verdict() = %q, want prefix %q", got, want)
		}
	}
	if got := goals[4].verdict(results); !strings.Contains(got, "worst 5.0x (X/no-op)") {
		t.Errorf("verdict() = %q, want X/no-op as the worst case", got)
	}
}
