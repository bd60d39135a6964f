package pebble

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestGroupWait checks with a fake clock how long takeAll waits for further commits, and how many commits it then returns.
func TestGroupWait(t *testing.T) {
	tests := []struct {
		name     string
		recent   int             // recent maximum number of outstanding commits
		syncTime time.Duration   // duration of an fsync
		arrivals []time.Duration // times at which further commits are put into the queue
		wantWait time.Duration
		wantSize int
	}{
		{name: "single writer", recent: 1, syncTime: time.Millisecond, wantWait: 0, wantSize: 1},
		{name: "no further commit", recent: 2, syncTime: time.Millisecond, wantWait: time.Millisecond, wantSize: 1},
		{name: "all expected commits", recent: 2, syncTime: time.Millisecond, arrivals: []time.Duration{300 * time.Microsecond}, wantWait: 300 * time.Microsecond, wantSize: 2},
		{name: "some of the expected commits", recent: 3, syncTime: time.Millisecond, arrivals: []time.Duration{300 * time.Microsecond}, wantWait: time.Millisecond, wantSize: 2},
		{name: "fast disk", recent: 2, syncTime: 400 * time.Microsecond, wantWait: 400 * time.Microsecond, wantSize: 1},
		{name: "very fast disk", recent: 2, syncTime: 100 * time.Microsecond, wantWait: 0, wantSize: 1},
		{name: "slow disk", recent: 2, syncTime: time.Second, wantWait: maxGroupWait, wantSize: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var q commitQueue
				q.init()
				q.syncTime = test.syncTime
				q.simulatePeak(test.recent)
				start := time.Now()
				q.put(&pendingCommit{})
				for _, arrival := range test.arrivals {
					time.AfterFunc(arrival, func() { q.put(&pendingCommit{}) })
				}
				taken := q.takeAll()
				if waited := time.Since(start); waited != test.wantWait || len(taken) != test.wantSize {
					t.Errorf("takeAll() = %d commits after %v, want %d after %v", len(taken), waited, test.wantSize, test.wantWait)
				}
			})
		})
	}
}

// simulatePeak puts count commits into the queue before it takes and finishes them, so that count commits are outstanding at
// once.
func (q *commitQueue) simulatePeak(count int) {
	for range count {
		q.put(&pendingCommit{})
	}
	q.finished(&group{commits: q.takeAll()})
}

// TestGroupWaitAdapts: when all writers but one have stopped, the committer soon stops waiting for further commits after a
// commit of the remaining writer.
func TestGroupWaitAdapts(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q commitQueue
		q.init()
		q.syncTime = time.Millisecond
		q.simulatePeak(5)
		start := time.Now()
		for range 100 {
			q.simulatePeak(1)
		}
		if waited := time.Since(start); waited == 0 || waited > 2*peakPeriod*maxGroupWait {
			t.Errorf("a single writer waited %v in total, want more than 0 and at most %v", waited, 2*peakPeriod*maxGroupWait)
		}
	})
}
