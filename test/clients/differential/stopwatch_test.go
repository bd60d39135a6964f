package differential

import (
	"testing"
	"time"
)

// TestStopwatch checks that a long gap between ticks counts as maxGap.
func TestStopwatch(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := &stopwatch{now: func() time.Time { return now }, last: now}
	for _, gap := range []time.Duration{tickInterval, 2 * tickInterval, 400 * time.Second, tickInterval} {
		now = now.Add(gap)
		w.elapsed()
	}
	if got, want := w.elapsed(), 4*tickInterval+maxGap; got != want {
		t.Errorf("elapsed() = %s, want %s: a gap of 400 s counts as %s", got, want, maxGap)
	}
}
