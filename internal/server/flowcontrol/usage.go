package flowcontrol

import "github.com/cadastre/cadastre/internal/metrics"

// levelUsage integrates the usage of a level over time, for metrics. It is guarded by the mutex of the level.
type levelUsage struct{ seats, waiting, executing, demand metrics.TimedHistogram }

func (u *levelUsage) init() {
	u.seats.Bounds = metrics.SeatUtilizationBounds
	u.waiting.Bounds, u.executing.Bounds = metrics.RequestUtilizationBounds, metrics.RequestUtilizationBounds
	u.demand.Bounds = metrics.DemandBounds
}

// advance records the current state of the level for elapsed seconds.
func (u *levelUsage) advance(elapsed float64, l *level) {
	if l.waiting == 0 && l.seatsInUse == 0 {
		for _, h := range []*metrics.TimedHistogram{&u.seats, &u.waiting, &u.executing, &u.demand} {
			h.Observe(elapsed, 0)
		}
		return
	}
	limit := float64(max(1, l.limit))
	u.seats.Observe(elapsed, float64(l.seatsInUse)/limit)
	u.waiting.Observe(elapsed, float64(l.waiting)/float64(max(1, l.dealt*l.config.queueLength)))
	u.executing.Observe(elapsed, float64(l.executing)/limit)
	u.demand.Observe(elapsed, float64(l.seatsInUse+l.waitingSeats)/limit)
}

// snapshot returns the state of all levels, for metrics.
func (c *Controller) snapshot() metrics.FlowSnapshot {
	c.mu.Lock()
	defer c.mu.Unlock()
	s := metrics.FlowSnapshot{FairFraction: c.fraction}
	for _, l := range c.sortedLevels() {
		s.Levels = append(s.Levels, l.snapshot())
	}
	return s
}

func (l *level) snapshot() metrics.FlowLevel {
	l.lock()
	defer l.mu.Unlock()
	s := metrics.FlowLevel{
		Name: l.name, Nominal: l.nominal, Lower: l.lower, Upper: l.upper, Limit: l.limit,
		CurrentR: l.virtual, DispatchR: l.dispatched, LatestS: l.lastStart,
		Peak: l.stats.peak, Average: l.stats.average, Deviation: l.stats.deviation, Smoothed: l.stats.smoothed, Target: l.stats.target,
		Seats: l.usage.seats.Clone(), Waiting: l.usage.waiting.Clone(), Executing: l.usage.executing.Clone(), Demand: l.usage.demand.Clone(),
	}
	if b := l.bounds; b.least <= b.greatest {
		s.NextS, s.NextDiscountedS = [2]float64{b.least, b.greatest}, [2]float64{b.leastDiscounted, b.greatestDiscounted}
	}
	for _, f := range l.flows {
		s.Flows = append(s.Flows, metrics.FlowState{
			Schema: f.schema, WaitingRequests: f.waiting, WaitingSeats: f.waitingSeats, ExecutingRequests: f.executing, ExecutingSeats: f.executingSeats,
		})
	}
	return s
}
