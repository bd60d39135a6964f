package pebble

import (
	"testing"
	"testing/synctest"
	"time"
)

// TestQueueWaitsForCompany has a clock that moves only when all wait, so that how long a group was waited for
// is known exactly.
func TestQueueWaitsForCompany(t *testing.T) {
	tests := []struct {
		name     string
		lately   int           // commits that were outstanding at once a moment ago
		syncTime time.Duration // that the disk takes
		after    []time.Duration
		waits    time.Duration
		takes    int
	}{
		{name: "one writer alone does not wait", lately: 1, syncTime: time.Millisecond, waits: 0, takes: 1},
		{name: "nobody who was there comes again", lately: 2, syncTime: time.Millisecond, waits: time.Millisecond, takes: 1},
		{name: "the other comes", lately: 2, syncTime: time.Millisecond, after: []time.Duration{300 * time.Microsecond}, waits: 300 * time.Microsecond, takes: 2},
		{name: "one of two comes", lately: 3, syncTime: time.Millisecond, after: []time.Duration{300 * time.Microsecond}, waits: time.Millisecond, takes: 2},
		{name: "a fast disk is not waited for longer than it takes", lately: 2, syncTime: 400 * time.Microsecond, waits: 400 * time.Microsecond, takes: 1},
		{name: "a very fast disk is not worth waiting", lately: 2, syncTime: 100 * time.Microsecond, waits: 0, takes: 1},
		{name: "a slow disk does not make it wait longer", lately: 2, syncTime: time.Second, waits: longestWait, takes: 1},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var q queue
				q.init()
				q.syncTime = test.syncTime
				q.outstandAtOnce(test.lately)
				begun := time.Now()
				q.put(&pending{})
				for _, after := range test.after {
					time.AfterFunc(after, func() { q.put(&pending{}) })
				}
				taken := q.takeAll()
				if waited := time.Since(begun); waited != test.waits || len(taken) != test.takes {
					t.Errorf("took %d commits after %v, expected %d after %v", len(taken), waited, test.takes, test.waits)
				}
			})
		})
	}
}

// outstandAtOnce has so many commits outstanding, and then none.
func (q *queue) outstandAtOnce(count int) {
	for range count {
		q.put(&pending{})
	}
	q.answered(&group{commits: q.takeAll()})
}

// TestQueueForgetsCompany waits for others only for so long after they went.
func TestQueueForgetsCompany(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var q queue
		q.init()
		q.syncTime = time.Millisecond
		q.outstandAtOnce(5)
		begun := time.Now()
		for range 100 {
			q.outstandAtOnce(1)
		}
		if waited := time.Since(begun); waited == 0 || waited > 2*groupsLearned*longestWait {
			t.Errorf("one writer waited %v for others that had gone, expected at most %v", waited, 2*groupsLearned*longestWait)
		}
	})
}
