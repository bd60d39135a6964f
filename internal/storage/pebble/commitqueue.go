package pebble

import (
	"slices"
	"sync"
	"time"
)

// commitQueue is the queue of commits between Commit and the committer. It decides when a group is complete.
//
// An fsync costs more than all other work of a commit, so the committer waits a moment for further commits before it takes a
// group: until the number of outstanding commits reaches its recent maximum, which predicts the number of active writers, but
// no longer than an fsync takes. A single writer never waits. In BenchmarkGroupWait, a commit takes 0.55x the time with 2
// writers, 0.29x with 8, and the same time with 64, compared to no waiting.
type commitQueue struct {
	mu      sync.Mutex
	waiting []*pendingCommit
	closed  bool
	// outstanding is the number of commits that were put into the queue and are not acknowledged yet; expected is the
	// predicted maximum of outstanding.
	outstanding, expected int
	// peaks are the maximum numbers of outstanding commits in the current period and in the previous period. A period lasts
	// for peakPeriod groups; groups is the number of groups so far.
	peaks  [2]int
	groups int
	// syncTime is the moving average of the time from taking a group from the queue to its acknowledgement.
	syncTime time.Duration
	// maxWait is the maximum time that the committer waits for further commits of a group.
	maxWait time.Duration
	// wakeup receives a value when the committer should check the queue again. Its capacity is 1.
	wakeup chan struct{}
}

const (
	peakPeriod = 8
	// maxGroupWait is the default of maxWait. If an fsync takes less than minGroupWait, the committer does not wait, because
	// a timer would cost more than it saves.
	maxGroupWait = time.Millisecond
	minGroupWait = 200 * time.Microsecond
)

func (q *commitQueue) init() { q.wakeup, q.maxWait = make(chan struct{}, 1), maxGroupWait }

// put adds a commit. It returns false if the queue is closed.
func (q *commitQueue) put(p *pendingCommit) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, p)
	q.outstanding++
	q.peaks[0] = max(q.peaks[0], q.outstanding)
	if len(q.waiting) == 1 || q.outstanding >= q.expected {
		q.notify()
	}
	return true
}

// notify wakes the committer; it does not block.
func (q *commitQueue) notify() {
	select {
	case q.wakeup <- struct{}{}:
	default: // a wakeup is pending already
	}
}

// finished subtracts the commits of g, which were acknowledged, from outstanding, and updates syncTime with the time that g
// took.
func (q *commitQueue) finished(g *group) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.outstanding -= len(g.commits)
	if g.batch != nil {
		q.syncTime += (time.Since(g.when) - q.syncTime) / 8
	}
}

// takeAll waits for commits and removes them from the queue as a group. It returns nil if the queue is closed and empty.
func (q *commitQueue) takeAll() []*pendingCommit {
	for !q.isReady() {
		<-q.wakeup
	}
	q.waitForWriters()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.updateExpected()
	count := min(len(q.waiting), maxGroupCommits)
	taken := slices.Clone(q.waiting[:count])
	q.waiting = append(q.waiting[:0], q.waiting[count:]...)
	return taken
}

// isReady reports whether takeAll can return without blocking: the queue contains commits or is closed.
func (q *commitQueue) isReady() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0 || q.closed
}

// waitForWriters waits until the expected number of commits is outstanding, but no longer than groupWait.
func (q *commitQueue) waitForWriters() {
	wait := q.groupWait()
	if wait == 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for q.groupWait() > 0 {
		select {
		case <-q.wakeup:
		case <-timer.C:
			return
		}
	}
}

// groupWait returns the maximum time to wait for further commits of a group; 0 if the group is complete or waiting is not
// worthwhile.
func (q *commitQueue) groupWait() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.outstanding >= q.expected || q.syncTime < minGroupWait {
		return 0
	}
	return min(q.syncTime, q.maxWait)
}

// updateExpected is called once per group. It sets expected to the maximum number of outstanding commits in the current and
// the previous period.
func (q *commitQueue) updateExpected() {
	if q.groups++; q.groups%peakPeriod == 0 {
		q.peaks = [2]int{q.outstanding, q.peaks[0]}
	}
	q.expected = max(q.peaks[0], q.peaks[1])
}

// close makes put reject further commits. Commits that are already in the queue are still committed.
func (q *commitQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.notify()
}
