package main

import (
	"fmt"
	"runtime/debug"
	"time"

	"github.com/cadastre/cadastre/test/bench"
	"github.com/cadastre/cadastre/test/bench/lowerbound"
)

// result contains the samples of each implementation for one case.
type result struct {
	bench.Comparison
	operation                      bench.Operation
	cadastre, upstream, lowerBound []bench.Sample
}

func measure(c bench.Comparison, operation bench.Operation, o options) (result, error) {
	results, err := measureTogether([]bench.Comparison{c}, operation, o)
	if err != nil {
		return result{}, err
	}
	return results[0], nil
}

// measureTogether measures several cases whose times are compared with each other. In every round it measures all
// implementations of all cases.
func measureTogether(cases []bench.Comparison, operation bench.Operation, o options) ([]result, error) {
	var works []bench.Work
	for _, c := range cases {
		implementations, err := allWorks(c)
		if err != nil {
			return nil, err
		}
		works = append(works, implementations...)
	}
	samples, err := bench.Measure(o.rounds, o.turn, works...)
	if err != nil {
		return nil, fmt.Errorf("%s: %w", cases[0].Name(), err)
	}
	var results []result
	for i, c := range cases {
		results = append(results, result{Comparison: c, operation: operation, cadastre: samples[3*i], upstream: samples[3*i+1], lowerBound: samples[3*i+2]})
	}
	return results, nil
}

func allWorks(c bench.Comparison) ([]bench.Work, error) {
	cadastre, err := c.Cadastre()
	if err != nil {
		return nil, fmt.Errorf("cadastre: %w", err)
	}
	upstream, err := c.Upstream()
	if err != nil {
		return nil, fmt.Errorf("upstream library: %w", err)
	}
	bottom, err := c.LowerBound(lowerbound.Fastest())
	if err != nil {
		return nil, fmt.Errorf("lower bound: %w", err)
	}
	return []bench.Work{cadastre, upstream, bottom}, nil
}

// speedup returns the upstream library's time divided by Cadastre's.
func (r result) speedup() float64 { return bench.TimeRatio(r.upstream, r.cadastre) }

// allocationRatio returns the number of the upstream library's allocations divided by Cadastre's.
func (r result) allocationRatio() float64 {
	return bench.Typical(r.upstream).Allocs / max(1, bench.Typical(r.cadastre).Allocs)
}

// aboveLowerBound returns Cadastre's time divided by the time of the lower bound.
func (r result) aboveLowerBound() float64 { return bench.TimeRatio(r.cadastre, r.lowerBound) }

const rowFormat = "%-28s %10s %10s %8s %10s %10s %8s %11s %8s\n"

func printHeader() {
	fmt.Printf(rowFormat, "case", "cadastre", "upstream", "faster", "allocs", "upstream", "fewer", "lower bound", "ratio")
}

func (r result) print() {
	cadastre, upstream, bottom := bench.Typical(r.cadastre), bench.Typical(r.upstream), bench.Typical(r.lowerBound)
	fmt.Printf(rowFormat, r.Name(), duration(cadastre.Time), duration(upstream.Time), times(r.speedup()),
		fmt.Sprintf("%.0f", cadastre.Allocs), fmt.Sprintf("%.0f", upstream.Allocs), times(r.allocationRatio()),
		duration(bottom.Time), times(r.aboveLowerBound()))
}

func printFootnotes() {
	fmt.Print(`
upstream: strategicpatch for the strategic merge patches make, make-3way and merge; structured-merge-diff (smd) for all others.
faster: upstream's time divided by Cadastre's; allocs, upstream: allocations of Cadastre and of upstream; fewer: upstream's
allocations divided by Cadastre's; ratio: Cadastre's time divided by that of the lower bound.
conflict: the result is an error, so the lower bound only parses.
unset: smd has no unset; it is measured with a forced apply that changes the same fields.
smd decodes with apimachinery's decoder for unstructured objects and encodes with goccy/go-json.
`)
}

// duration formats a duration with two or three significant digits.
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

// moduleVersion returns the version of a module that this binary depends on, or "" if it is unknown.
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
