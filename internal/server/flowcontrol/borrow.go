package flowcontrol

import (
	"math"
	"time"
)

const (
	// adjustPeriod is the time between two adjustments of the limits.
	adjustPeriod = 10 * time.Second
	// smoothing is the decay of the smoothed demand in an adjustPeriod; its half-life is 5 minutes.
	smoothing = 0.977
	// minTarget replaces smaller targets, because limits are distributed in proportion to the targets.
	minTarget = 0.001
)

// demand integrates the number of seats that a level could use over time.
type demand struct{ seconds, sum, squares, peak float64 }

// advance records a demand of seats for elapsed seconds.
func (d *demand) advance(elapsed, seats float64) {
	d.seconds += elapsed
	d.sum += elapsed * seats
	d.squares += elapsed * seats * seats
	d.peak = max(d.peak, seats)
}

// note records a momentary demand, which can be the peak.
func (d *demand) note(seats int) { d.peak = max(d.peak, float64(seats)) }

// demandStats are the statistics of the demand in an adjustPeriod. smoothed follows an increase of the average plus the standard
// deviation at once, and a decrease slowly. target is the number of seats that the level would get if there were enough.
type demandStats struct{ peak, average, deviation, smoothed, target float64 }

// next returns the statistics after a period with the given demand.
func (s demandStats) next(d demand) demandStats {
	s.peak = math.Round(d.peak)
	if d.seconds <= 0 {
		return s
	}
	s.average = d.sum / d.seconds
	s.deviation = math.Sqrt(max(0, d.squares/d.seconds-s.average*s.average))
	envelope := s.average + s.deviation
	s.smoothed = max(envelope, smoothing*s.smoothed+(1-smoothing)*envelope)
	return s
}

// share is a level in a distribution of seats, with its bounds and its target.
type share struct {
	level                *level
	lower, upper, target float64
}

// adjust distributes the seats of the server among the levels by their demand in the last period. It returns the fair fraction:
// the ratio of limit and target of the levels that reach neither of their bounds.
func adjust(levels []*level) (fraction float64) {
	var shares []share
	total, lowers, minimums := 0, 0.0, 0.0
	for _, l := range levels {
		total += l.nominal
	}
	available := float64(total)
	for _, l := range levels {
		l.lock()
		l.stats = l.stats.next(l.demand)
		l.demand = demand{peak: float64(l.seatsInUse + l.waitingSeats)}
		stats := &l.stats
		if l.config.exempt {
			stats.target = max(float64(l.lower), stats.peak)
			available -= stats.target
			l.limit = int(stats.target)
			l.mu.Unlock()
			continue
		}
		lower := max(float64(l.lower), min(float64(l.nominal), stats.peak))
		stats.target = max(lower, stats.smoothed)
		shares = append(shares, share{l, lower, float64(l.upper), stats.target})
		lowers += float64(l.lower)
		minimums += lower
		l.mu.Unlock()
	}
	switch {
	case available <= lowers:
		for _, s := range shares {
			s.level.setLimit(s.level.lower)
		}
		return 0
	case available <= minimums:
		part := (available - lowers) / (minimums - lowers)
		for _, s := range shares {
			s.level.setLimit(s.level.lower + int(math.Round((s.lower-float64(s.level.lower))*part)))
		}
		return 0
	}
	limits, fraction := distribute(float64(total), shares)
	for i, s := range shares {
		s.level.setLimit(int(math.Round(limits[i])))
	}
	return fraction
}

// distribute returns the limits between lower and upper whose sum is total, and which are otherwise proportional to the targets,
// with the factor of proportion.
func distribute(total float64, shares []share) (limits []float64, fraction float64) {
	limits = make([]float64, len(shares))
	at := func(fraction float64) (sum float64) {
		for i, s := range shares {
			limits[i] = min(s.upper, max(s.lower, fraction*max(s.target, minTarget)))
			sum += limits[i]
		}
		return sum
	}
	low, high := 0.0, 1.0
	for at(high) < total && high < 1e12 {
		high *= 2
	}
	for range 100 { // the sum is a monotonic function of the fraction
		if middle := (low + high) / 2; at(middle) < total {
			low = middle
		} else {
			high = middle
		}
	}
	at(high)
	return limits, high
}
