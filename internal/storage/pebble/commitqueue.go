package pebble

import (
	"slices"
	"sync"
	"time"
)

// commitQueue is the queue of commits between Commit and the committer. It decides when a group is complete.
//
// An fsync costs more than all other work of a commit, so the committer waits a moment for further commits: until as many are
// outstanding as there were at the same time recently, which predicts how many writers are active, and for no longer than an
// fsync takes. A single writer never waits. BenchmarkGroupWait measures 0.55x the time of a commit with 2 writers, 0.29x with 8,
// and the same time with 64.
type commitQueue struct {
	mu      sync.Mutex
	waiting []*pendingCommit
	closed  bool
	// outstanding is the number of commits that are not acknowledged, expected its predicted maximum.
	outstanding, expected int
	// peaks are the maximum numbers of outstanding commits in the current period and in the one before. A period is
	// peakPeriod groups long, groups counts them.
	peaks  [2]int
	groups int
	// syncTime is the moving average of the duration of a group.
	syncTime time.Duration
	// maxWait is the maximum time that the committer waits for further commits.
	maxWait time.Duration
	// wakeup wakes the committer.
	wakeup chan struct{}
}

const (
	peakPeriod = 8
	// maxGroupWait is the default of maxWait. Waits shorter than minGroupWait are not worth a timer.
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

// notify wakes the committer.
func (q *commitQueue) notify() {
	select {
	case q.wakeup <- struct{}{}:
	default: // it is being woken already
	}
}

// finished removes an acknowledged group from the outstanding commits, and measures its duration.
func (q *commitQueue) finished(g *group) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.outstanding -= len(g.commits)
	if g.batch != nil {
		q.syncTime += (time.Since(g.when) - q.syncTime) / 8
	}
}

// takeAll waits for commits and removes them from the queue as a group. It returns none if the queue is closed and empty.
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

// isReady reports whether the queue has commits or is closed.
func (q *commitQueue) isReady() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0 || q.closed
}

// waitForWriters waits until the expected number of commits is outstanding, or the wait has lasted too long.
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

// groupWait returns the time to wait for further commits; 0 if the group is complete.
func (q *commitQueue) groupWait() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.outstanding >= q.expected || q.syncTime < minGroupWait {
		return 0
	}
	return min(q.syncTime, q.maxWait)
}

// updateExpected predicts the number of outstanding commits: the maximum of the last two periods.
func (q *commitQueue) updateExpected() {
	if q.groups++; q.groups%peakPeriod == 0 {
		q.peaks = [2]int{q.outstanding, q.peaks[0]}
	}
	q.expected = max(q.peaks[0], q.peaks[1])
}

// close rejects further commits. Commits in the queue are still taken.
func (q *commitQueue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.notify()
}
