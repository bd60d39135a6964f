package storebench

import (
	"slices"
	"time"
)

// percentile returns the least of the sorted durations that at least so many of a hundred do not exceed.
func percentile(sorted []time.Duration, percent int) time.Duration {
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}

// Median is that of a figure over the rounds of one side.
func Median(rounds []Result, figure func(Result) float64) float64 {
	var figures []float64
	for _, r := range rounds {
		figures = append(figures, figure(r))
	}
	return median(figures)
}

// A Spread is a figure over the rounds. A median close to a bound says little if the rest is far away.
type Spread struct{ Least, Median, Most float64 }

// Ratio is a's figure by b's, round by round: the two of a round ran one after the other, so that what
// slows the machine for a while slows both.
func Ratio(a, b []Result, figure func(Result) float64) Spread {
	var ratios []float64
	for i := range a {
		ratios = append(ratios, figure(a[i])/figure(b[i]))
	}
	return Spread{Least: slices.Min(ratios), Median: median(ratios), Most: slices.Max(ratios)}
}

func median(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[len(sorted)/2]
}
