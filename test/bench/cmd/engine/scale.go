package main

import (
	"fmt"

	"github.com/cadastre/cadastre/test/bench"
)

// maxGrowth is the maximum growth of the time divided by the growth of the size that the goal allows. It is more than 1
// because CPU caches are less effective for large objects.
const maxGrowth = 1.5

// compareScales prints how the cost of apply and update grows with the length of the object's lists.
func compareScales(o options) error {
	byScale := bench.ScaledCases()
	printed := false
	for i, operation := range bench.Operations {
		if !o.selected.MatchString("Scale/" + string(operation)) {
			continue
		}
		if !printed {
			printScaleHeader(byScale)
			printed = true
		}
		var row []bench.Comparison
		for _, cases := range byScale {
			row = append(row, cases[i])
		}
		results, err := measureTogether(row, operation, o)
		if err != nil {
			return err
		}
		printScaleRow(results)
	}
	return nil
}

const scaleFormat = "%-10s %-21s %10s %10s %10s %8s\n"

func printScaleHeader(byScale [][]bench.Case) {
	fmt.Print("\ngrowth with the length of the lists: a custom resource of")
	for i, cases := range byScale {
		fmt.Printf(" %dx (%d KB)", bench.Scales[i], len(cases[0].Object.Live)/1000)
	}
	fmt.Print("\ngrowth: growth of the time from 10x to 100x divided by the growth of the bytes; 1 is linear\n\n")
	fmt.Printf(scaleFormat, "operation", "library", "1x", "10x", "100x", "growth")
}

func printScaleRow(row []result) {
	implementations := []struct {
		name    string
		samples func(result) []bench.Sample
	}{
		{"cadastre", func(r result) []bench.Sample { return r.cadastre }},
		{"structured-merge-diff", func(r result) []bench.Sample { return r.upstream }},
		{"lower bound", func(r result) []bench.Sample { return r.lowerBound }},
	}
	small, large := row[len(row)-2], row[len(row)-1]
	for _, implementation := range implementations {
		cells := []any{string(large.operation), implementation.name}
		for _, r := range row {
			cells = append(cells, duration(bench.Typical(implementation.samples(r)).Time))
		}
		growth := fmt.Sprintf("%.2f", growth(small, large, implementation.samples))
		fmt.Printf(scaleFormat, append(cells, growth)...)
	}
	word := "pass"
	if growth(small, large, implementations[0].samples) > maxGrowth {
		word = "FAIL"
	}
	fmt.Printf("  %s  %s grows linearly with the object, at most %.1f\n", word, large.operation, maxGrowth)
}

// growth returns the ratio of the times of the large and the small object, divided by the ratio of their sizes. It is 1
// if the time is linear in the size.
func growth(small, large result, samples func(result) []bench.Sample) float64 {
	inBytes := float64(large.Size()) / float64(small.Size())
	return bench.TimeRatio(samples(large), samples(small)) / inBytes
}
