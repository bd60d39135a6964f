package flowcontrol

import (
	"context"
	"time"
)

// Ticket holds the seats of a request. The zero value is ready for Controller.Enter. Its methods are safe for concurrent use
// after Enter has returned. It must not be copied after Enter, and must not be reused.
type Ticket struct {
	level   *level
	schema  *schema
	flow    *flow
	queue   *queue
	request *Request
	hash    uint64
	work    work

	// The following fields are guarded by the mutex of the level.
	state            state
	previous, next   *Ticket
	arrived, started time.Time
	entered          time.Time     // the first start
	arrival          float64       // the virtual time of the arrival
	ready            chan struct{} // closed when a waiting ticket is dispatched
}

// state is the state of a ticket.
type state int

// The states. A ticket is suspended while its request waits for the client, and is finished after Release.
const (
	idle state = iota
	waiting
	executing
	suspended
	finished
)

// Release frees the seats at the end of a request. Further calls have no effect.
func (t *Ticket) Release() {
	l := t.level
	if l == nil {
		return
	}
	now := l.lock()
	defer l.mu.Unlock()
	was := t.state
	if was != executing && was != suspended {
		return
	}
	t.state = finished
	if was == executing {
		l.stop(t, now, true)
	}
	t.flow.metrics.Executed(t.request.Verb == "watch", now.Sub(t.entered))
	l.metrics.Executing(t.request.ReadOnly, -1)
}

// Suspend frees the seats until Resume is called, because the request waits for the client. It has no effect unless the ticket has
// seats.
func (t *Ticket) Suspend() {
	l := t.level
	if l == nil {
		return
	}
	now := l.lock()
	defer l.mu.Unlock()
	if t.state == executing {
		t.state = suspended
		l.stop(t, now, false)
	}
}

// Resume waits for the seats of a suspended ticket. Unlike a new request, it is not rejected if its queue is full. It returns the error of
// ctx if ctx ends first. It has no effect if the ticket is not suspended.
func (t *Ticket) Resume(ctx context.Context) error {
	l := t.level
	if l == nil {
		return nil
	}
	l.mu.Lock()
	isSuspended := t.state == suspended
	l.mu.Unlock()
	if !isSuspended {
		return nil
	}
	if dispatched, _ := l.enter(t, t.hash, true); dispatched {
		return nil
	}
	select {
	case <-t.ready:
		return nil
	case <-ctx.Done():
	}
	l.lock()
	defer l.mu.Unlock()
	if t.state != waiting {
		return nil
	}
	l.leave(t)
	t.state = suspended
	return ctx.Err()
}

// leave removes a waiting ticket. The caller holds the lock.
func (l *level) leave(t *Ticket) {
	l.dequeue(t)
	t.queue.bound()
	l.deactivate(t.queue)
}

// wait waits until a queued ticket is dispatched, and reports whether it was. The wait ends when ctx ends, or after limit.
func (l *level) wait(ctx context.Context, t *Ticket, limit time.Duration) bool {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	l.metrics.Waiting(t.request.ReadOnly, +1)
	defer l.metrics.Waiting(t.request.ReadOnly, -1)
	timedOut := false
	select {
	case <-t.ready:
		return true
	case <-timer.C:
		timedOut = true
	case <-ctx.Done():
	}
	now := l.lock()
	defer l.mu.Unlock()
	if t.state != waiting {
		return true
	}
	l.leave(t)
	t.state, t.started = finished, now
	l.reject("")
	if timedOut {
		l.counts.timedOut++
	} else {
		l.counts.cancelled++
	}
	l.dispatch(now)
	return false
}
