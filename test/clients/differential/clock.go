package differential

import (
	"sync"
	"time"
)

// A stopwatch measures how long this process has been running. A time in which everything stood still, since somebody
// stopped the processes or the machine slept, is not searched, and does not count: it is a gap between two looks at the
// clock that is longer than looks are apart.
type stopwatch struct {
	mu      sync.Mutex
	now     func() time.Time
	last    time.Time
	running time.Duration
	end     chan struct{}
}

// The clock is looked at every beat; a gap counts for no more than the longest.
const (
	beat       = time.Second
	longestGap = 5 * beat
)

func startStopwatch() *stopwatch {
	w := &stopwatch{now: time.Now, last: time.Now(), end: make(chan struct{})}
	go func() {
		ticks := time.NewTicker(beat)
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

// stop ends the looking at the clock.
func (w *stopwatch) stop() { close(w.end) }

// elapsed is how long the process has been running since the start.
func (w *stopwatch) elapsed() time.Duration {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := w.now()
	w.running += min(now.Sub(w.last), longestGap)
	w.last = now
	return w.running
}
