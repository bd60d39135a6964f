package bench

import (
	"runtime"
	"slices"
	"time"
)

// Sample is the cost of one execution of a Work.
type Sample struct {
	Time   time.Duration
	Allocs float64
	Bytes  float64
}

// Measure measures several works in turns, round by round, so that disturbances affect all of them equally. Each turn
// lasts about the given time. The result has the rounds of each work; none for a nil work.
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

// calibrate returns the number of executions that fit into a turn.
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

// run executes the work count times and returns the mean. It starts with a garbage collection, so that garbage of
// other works is not attributed to it.
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

// Typical returns the median of each cost.
func Typical(samples []Sample) Sample {
	return Sample{
		Time:   time.Duration(median(samples, func(s Sample) float64 { return float64(s.Time) })),
		Allocs: median(samples, func(s Sample) float64 { return s.Allocs }),
		Bytes:  median(samples, func(s Sample) float64 { return s.Bytes }),
	}
}

// TimeRatio returns the median over the rounds of a's time divided by b's.
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
