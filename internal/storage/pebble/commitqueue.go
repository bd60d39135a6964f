package pebble

import (
	"slices"
	"sync"
	"time"
)

// queue is where commits wait to be taken.
//
// A sync costs more than all else that a commit does, so that it is worth waiting a moment for those who
// are about to come. Who they are nobody knows; but writers who were there a moment ago will most likely come
// again.
// So a group goes as soon as as many commits are outstanding as there have been lately, and waits for
// no longer than a sync takes. One writer alone never waits.
type queue struct {
	mu      sync.Mutex
	waiting []*pending
	closed  bool
	// outstanding is how many commits wait, or are on their way to the disk. expected is how many there
	// will be; see learn.
	outstanding, expected int
	// most is how many were outstanding at once in this period and in the one before, of groupsLearned
	// groups each.
	most   [2]int
	groups int
	// syncTime is how long the disk takes, on average.
	syncTime time.Duration
	// news has something when there may be enough to go.
	news chan struct{}
}

const (
	groupsLearned = 8
	// longestWait is how long a group waits for company, and shortestWait what is worth a timer.
	longestWait  = time.Millisecond
	shortestWait = 200 * time.Microsecond
)

func (q *queue) init() { q.news = make(chan struct{}, 1) }

// put adds a commit; it reports false if the queue is closed.
func (q *queue) put(p *pending) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		return false
	}
	q.waiting = append(q.waiting, p)
	q.outstanding++
	q.most[0] = max(q.most[0], q.outstanding)
	if len(q.waiting) == 1 || q.outstanding >= q.expected {
		q.tell()
	}
	return true
}

// tell wakes the committer.
func (q *queue) tell() {
	select {
	case q.news <- struct{}{}:
	default: // it will look anyway
	}
}

// answered notes a group that is not outstanding any more, and how long the disk took.
func (q *queue) answered(g *group) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.outstanding -= len(g.commits)
	if g.batch != nil {
		q.syncTime += (time.Since(g.when) - q.syncTime) / 8
	}
}

// takeAll waits until there is something, and takes all there is. It returns nothing when the queue is
// closed and empty.
func (q *queue) takeAll() []*pending {
	for !q.isReady() {
		<-q.news
	}
	q.waitForCompany()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.learn()
	count := min(len(q.waiting), largestGroup)
	taken := slices.Clone(q.waiting[:count])
	q.waiting = append(q.waiting[:0], q.waiting[count:]...)
	return taken
}

// isReady reports whether there is something, or nothing will come any more.
func (q *queue) isReady() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting) > 0 || q.closed
}

// waitForCompany waits until those are there who are expected, or it is not worth it any more.
func (q *queue) waitForCompany() {
	wait := q.worthWaiting()
	if wait == 0 {
		return
	}
	timer := time.NewTimer(wait)
	defer timer.Stop()
	for q.worthWaiting() > 0 {
		select {
		case <-q.news:
		case <-timer.C:
			return
		}
	}
}

// worthWaiting returns how long it is worth to wait for others.
func (q *queue) worthWaiting() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed || q.outstanding >= q.expected || q.syncTime < shortestWait {
		return 0
	}
	return min(q.syncTime, longestWait)
}

// learn finds out how many commits to expect: as many as there have been lately at once.
func (q *queue) learn() {
	if q.groups++; q.groups%groupsLearned == 0 {
		q.most = [2]int{q.outstanding, q.most[0]}
	}
	q.expected = max(q.most[0], q.most[1])
}

// close has no more commits put. Those that wait are still taken.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.tell()
}
