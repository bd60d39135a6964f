package stat

import (
	"slices"
	"time"
)

// Percentile returns the smallest duration in sorted such that at least percent percent of the durations are less than
// or equal to it.
func Percentile(sorted []time.Duration, percent int) time.Duration {
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}

// Median returns the median of the figures of all rounds.
func Median[R any](rounds []R, figure func(R) float64) float64 { return Over(rounds, figure).Median }

// Spread is the median of a figure over rounds, with the minimum and maximum, which show how reliable the median is.
type Spread struct{ Min, Median, Max float64 }

// Over returns the spread of the figures of all rounds.
func Over[R any](rounds []R, figure func(R) float64) Spread {
	var figures []float64
	for _, r := range rounds {
		figures = append(figures, figure(r))
	}
	return Of(figures)
}

// Of returns the spread of the figures, of which there must be at least one.
func Of(figures []float64) Spread {
	return Spread{Min: slices.Min(figures), Median: middle(figures), Max: slices.Max(figures)}
}

// Ratio returns the spread of a's figure divided by b's figure in the same round. a and b are measured one after the
// other in every round, so a slow phase of the machine affects both.
func Ratio[R any](a, b []R, figure func(R) float64) Spread {
	var ratios []float64
	for i := range a {
		ratios = append(ratios, figure(a[i])/figure(b[i]))
	}
	return Of(ratios)
}

func middle(figures []float64) float64 {
	sorted := slices.Sorted(slices.Values(figures))
	return sorted[len(sorted)/2]
}
