package stat

import (
	"slices"
	"time"
)

// Percentile returns the least of the sorted durations that at least so many of a hundred do not exceed.
func Percentile(sorted []time.Duration, percent int) time.Duration {
	rank := (len(sorted)*percent + 99) / 100
	return sorted[max(rank, 1)-1]
}

// Median is that of a figure over rounds.
func Median[R any](rounds []R, figure func(R) float64) float64 { return Over(rounds, figure).Median }

// A Spread is a figure over the rounds. A median close to a bound says little if the rest is far away.
type Spread struct{ Least, Median, Most float64 }

// Over is the spread of a figure over rounds.
func Over[R any](rounds []R, figure func(R) float64) Spread {
	var figures []float64
	for _, r := range rounds {
		figures = append(figures, figure(r))
	}
	return Of(figures)
}

// Of is the spread of figures.
func Of(figures []float64) Spread {
	return Spread{Least: slices.Min(figures), Median: middle(figures), Most: slices.Max(figures)}
}

// Ratio is a's figure by b's, round by round: the two of a round ran one after the other, so that what
// slows the machine for a while slows both.
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
