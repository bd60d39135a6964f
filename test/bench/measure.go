package bench

import (
	"runtime"
	"slices"
	"time"
)

// Sample is the mean cost of one execution of a Work: elapsed time, heap allocations and allocated bytes.
type Sample struct {
	Time   time.Duration
	Allocs float64
	Bytes  float64
}

// Measure measures works. In every round, each of them in turn is executed repeatedly for about the duration turn, so
// that other load on the machine affects all of them equally. The result contains the samples of each work, one per
// round; it is nil for a nil work.
func Measure(rounds int, turn time.Duration, works ...Work) ([][]Sample, error) {
	samples := make([][]Sample, len(works))
	counts := make([]int, len(works))
	for i, work := range works {
		if work == nil {
			continue
		}
		count, err := calibrate(work, turn)
		if err != nil {
			return nil, err
		}
		counts[i] = count
	}
	for range rounds {
		for i, work := range works {
			if work == nil {
				continue
			}
			sample, err := run(work, counts[i])
			if err != nil {
				return nil, err
			}
			samples[i] = append(samples[i], sample)
		}
	}
	return samples, nil
}

// calibrate returns the number of executions of work that take about the duration turn.
func calibrate(work Work, turn time.Duration) (int, error) {
	for count := 1; ; count *= 4 {
		sample, err := run(work, count)
		if err != nil {
			return 0, err
		}
		if sample.Time*time.Duration(count) >= turn/8 {
			return max(1, int(turn/max(sample.Time, 1))), nil
		}
	}
}

// run executes work count times and returns the mean cost of one execution. It collects garbage first, so that garbage
// of other works is not attributed to this one.
func run(work Work, count int) (Sample, error) {
	runtime.GC()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	start := time.Now()
	for range count {
		if err := work(); err != nil {
			return Sample{}, err
		}
	}
	elapsed := time.Since(start)
	runtime.ReadMemStats(&after)
	return Sample{
		Time:   elapsed / time.Duration(count),
		Allocs: float64(after.Mallocs-before.Mallocs) / float64(count),
		Bytes:  float64(after.TotalAlloc-before.TotalAlloc) / float64(count),
	}, nil
}

// Typical returns the medians of time, allocations and bytes.
func Typical(samples []Sample) Sample {
	return Sample{
		Time:   time.Duration(median(samples, func(s Sample) float64 { return float64(s.Time) })),
		Allocs: median(samples, func(s Sample) float64 { return s.Allocs }),
		Bytes:  median(samples, func(s Sample) float64 { return s.Bytes }),
	}
}

// TimeRatio returns the median, over the rounds, of a's time divided by b's time in the same round.
func TimeRatio(a, b []Sample) float64 {
	var ratios []float64
	for i := range a {
		ratios = append(ratios, float64(a[i].Time)/float64(max(b[i].Time, 1)))
	}
	slices.Sort(ratios)
	return ratios[len(ratios)/2]
}

func median(samples []Sample, cost func(Sample) float64) float64 {
	var costs []float64
	for _, s := range samples {
		costs = append(costs, cost(s))
	}
	slices.Sort(costs)
	return costs[len(costs)/2]
}
