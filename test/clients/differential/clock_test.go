package differential

import (
	"testing"
	"time"
)

// TestStopwatch: a process that was stopped for long has not been running.
func TestStopwatch(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	w := &stopwatch{now: func() time.Time { return now }, last: now}
	for _, gap := range []time.Duration{beat, 2 * beat, 400 * time.Second, beat} {
		now = now.Add(gap)
		w.elapsed()
	}
	if got, want := w.elapsed(), 4*beat+longestGap; got != want {
		t.Errorf("the stopwatch shows %s, want %s: of 400 s in which nobody looked, %s count", got, want, longestGap)
	}
}
