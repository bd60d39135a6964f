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
	r := func(operation bench.Operation, cadastre, upstream, lowerBound time.Duration) result {
		c := bench.Case{Object: &fixture.Object{Name: "X"}, Operation: operation}
		return result{Comparison: c, operation: operation, cadastre: sample(cadastre, 10), upstream: sample(upstream, 300), lowerBound: sample(lowerBound, 0)}
	}
	results := []result{
		r(bench.Change, 10, 50, 5),
		r(bench.NoOp, 10, 250, 2),
	}
	// The speedups are 5 and 25, the times divided by the lower bound are 2 and 5, and the allocations are a thirtieth.
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
