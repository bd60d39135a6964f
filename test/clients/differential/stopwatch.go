package differential

import (
	"sync"
	"time"
)

// stopwatch measures the time that this process has been running. Time during which the process was stopped or the
// machine slept is not counted: a gap between two ticks that is longer than maxGap counts as maxGap.
type stopwatch struct {
	mu      sync.Mutex
	now     func() time.Time
	last    time.Time
	running time.Duration
	end     chan struct{}
}

// tickInterval is the interval between ticks. maxGap is the maximum time that is counted between two ticks.
const (
	tickInterval = time.Second
	maxGap       = 5 * tickInterval
)

func startStopwatch() *stopwatch {
	w := &stopwatch{now: time.Now, last: time.Now(), end: make(chan struct{})}
	go func() {
		ticks := time.NewTicker(tickInterval)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
				w.elapsed()
			case <-w.end:
				return
			}
		}
	}()
	return w
}

// stop ends the goroutine that ticks.
func (w *stopwatch) stop() { close(w.end) }

// elapsed returns the time for which the process has been running since the start of the stopwatch.
func (w *stopwatch) elapsed() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.running += min(now.Sub(w.last), maxGap)
	w.last = now
	return w.running
}
