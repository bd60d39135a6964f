package main

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/cadastre/cadastre/test/bench"
	"github.com/cadastre/cadastre/test/bench/floor"
)

// result has the samples of each side for a case.
type result struct {
	bench.Comparison
	operation         bench.Operation
	ours, peer, floor []bench.Sample
}

func measure(c bench.Comparison, operation bench.Operation, o options) (result, error) {
	results, err := measureTogether([]bench.Comparison{c}, operation, o)
	if err != nil {
		return result{}, err
	}
	return results[0], nil
}

// measureTogether measures cases whose times are compared with each other: all take turns.
func measureTogether(cases []bench.Comparison, operation bench.Operation, o options) ([]result, error) {
	var works []bench.Work
	for _, c := range cases {
		sides, err := allSides(c)
		if err != nil {
			return nil, err
		}
		works = append(works, sides...)
	}
	samples, err := bench.Measure(o.rounds, o.turn, works...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cases[0].Name(), err)
	}
	var results []result
	for i, c := range cases {
		results = append(results, result{Comparison: c, operation: operation, ours: samples[3*i], peer: samples[3*i+1], floor: samples[3*i+2]})
	}
	return results, nil
}

func allSides(c bench.Comparison) ([]bench.Work, error) {
	ours, err := c.Ours()
	if err != nil {
		return nil, fmt.Errorf("ours: %w", err)
	}
	peer, err := c.Peer()
	if err != nil {
		return nil, fmt.Errorf("peer: %w", err)
	}
	bottom, err := c.Floor(floor.Fastest())
	if err != nil {
		return nil, fmt.Errorf("floor: %w", err)
	}
	return []bench.Work{ours, peer, bottom}, nil
}

// faster returns the peer's time divided by ours.
func (r result) faster() float64 { return bench.TimeRatio(r.peer, r.ours) }

// fewer returns the peer's allocations divided by ours.
func (r result) fewer() float64 {
	return bench.Typical(r.peer).Allocs / max(1, bench.Typical(r.ours).Allocs)
}

// aboveFloor returns our time divided by the floor's.
func (r result) aboveFloor() float64 { return bench.TimeRatio(r.ours, r.floor) }

const rowFormat = "%-28s %10s %10s %8s %10s %10s %8s %10s %8s\n"

func printHeader() {
	fmt.Printf(rowFormat, "case", "ours", "peer", "faster", "allocs", "peer's", "fewer", "floor", "ours/fl.")
}

func (r result) print() {
	ours, peer, bottom := bench.Typical(r.ours), bench.Typical(r.peer), bench.Typical(r.floor)
	fmt.Printf(rowFormat, r.Name(), duration(ours.Time), duration(peer.Time), times(r.faster()),
		fmt.Sprintf("%.0f", ours.Allocs), fmt.Sprintf("%.0f", peer.Allocs), times(r.fewer()),
		duration(bottom.Time), times(r.aboveFloor()))
}

func printFootnotes() {
	fmt.Print(`
faster: the peer's time divided by ours; fewer: the peer's allocations divided by ours; ours/fl.: our time divided by the floor's.
make, make-3way, merge: strategic merge patches; the peer is strategicpatch. All others: the peer is smd.
conflict: the result is an error, so the floor only parses.
unset: smd has no unset; it is measured with a forced apply that changes the same fields.
smd decodes with apimachinery's decoder for unstructured objects and encodes with goccy/go-json.
`)
}

// duration formats a duration with about three digits.
func duration(d time.Duration) string {
	switch {
	case d < 10*time.Microsecond:
		return fmt.Sprintf("%.2fµs", float64(d)/1e3)
	case d < time.Millisecond:
		return fmt.Sprintf("%.0fµs", float64(d)/1e3)
	case d < 10*time.Millisecond:
		return fmt.Sprintf("%.2fms", float64(d)/1e6)
	}
	return fmt.Sprintf("%.0fms", float64(d)/1e6)
}

func times(ratio float64) string { return fmt.Sprintf("%.1fx", ratio) }

// moduleVersion returns the version of a dependency of this binary.
func moduleVersion(path string) string {
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return ""
	}
	for _, module := range info.Deps {
		if module.Path == path {
			return module.Version
		}
	}
	return ""
}
