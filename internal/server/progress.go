package server

import (
	"context"
	"sync"
	"time"

	"github.com/cadastre/cadastre/internal/server/flowcontrol"
)

const (
	// stallAfter is the time after which an operation on the connection counts as stalled: it waits for the client.
	stallAfter = 2 * time.Millisecond
	// maxPiece is the maximum size, in bytes, of one write to the connection, so that the time limit of a write is one of progress.
	maxPiece = 64 << 10
	// minBodyRate is the minimum rate, in bytes per second, at which a body must arrive after the first Limits.ProgressTimeout.
	minBodyRate = 16 << 10
)

// progress supervises reads from or writes to the connection. It suspends the ticket of the request while an operation stalls, so that
// a slow client occupies no seats. It ends an operation that takes longer than its limit by setting the deadline of the connection to a
// time in the past. It does not set a deadline before the operation, because over HTTP/2 such a deadline would end the request even
// between operations, and setting a deadline for each operation costs more than a timer.
//
// One goroutine calls start and stop, in turn.
type progress struct {
	limit       time.Duration // of an operation
	setDeadline func(time.Time) error
	ticket      *flowcontrol.Ticket // nil if the request has no seats
	stalls      *stalls             // nil if stalled operations are not counted
	user        string
	bytes       int // the memory that a stalled operation occupies, at least minStallBytes

	timer *time.Timer

	mu        sync.Mutex
	end       time.Time // the time at which the operation in progress times out, zero if there is no operation
	isStalled bool      // reports whether the operation in progress is stalled
	stallAt   time.Time
}

// start starts the supervision of an operation. It is called before the operation, and stop after it.
func (p *progress) start() { p.startUntil(p.limit) }

// startUntil is start with a limit of its own.
func (p *progress) startUntil(limit time.Duration) {
	now := time.Now()
	first := limit
	if p.ticket != nil {
		first = min(stallAfter, limit)
	}
	p.mu.Lock() // until p.timer is set, because the timer may fire at once
	defer p.mu.Unlock()
	p.end, p.stallAt = now.Add(limit), now.Add(first)
	if p.timer == nil {
		p.timer = time.AfterFunc(first, p.expire)
		return
	}
	p.timer.Reset(first)
}

// stop ends the supervision of an operation that has ended. If the operation has stalled, stop waits until the request has its seats
// again, or until the context that resume returns ends; it then returns the error of the context.
func (p *progress) stop(resume func() (context.Context, context.CancelFunc)) error {
	p.timer.Stop()
	p.mu.Lock()
	wasStalled := p.isStalled
	p.end, p.isStalled = time.Time{}, false
	p.mu.Unlock()
	if !wasStalled {
		return nil
	}
	if p.stalls != nil {
		p.stalls.remove(p)
	}
	ctx, cancel := resume()
	defer cancel()
	return p.ticket.Resume(ctx)
}

// expire is called by the timer. The timer may fire after the end of its operation, when the connection already serves another request.
// Therefore expire checks that there is an operation, and that it has stalled or timed out.
func (p *progress) expire() {
	p.mu.Lock()
	now := time.Now()
	switch {
	case p.end.IsZero():
	case !now.Before(p.end):
		_ = p.setDeadline(time.Unix(0, 0))
	case p.ticket != nil && !p.isStalled && !now.Before(p.stallAt):
		p.isStalled = true
		p.ticket.Suspend()
		p.timer.Reset(p.end.Sub(now))
		p.mu.Unlock()
		if p.stalls != nil {
			p.stalls.add(p) // may abort another operation, and therefore must not be called with the lock
		}
		return
	}
	p.mu.Unlock()
}

// abort ends the operation in progress, if it is stalled.
func (p *progress) abort() {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.isStalled && !p.end.IsZero() {
		_ = p.setDeadline(time.Unix(0, 0))
	}
}

// minStallBytes is the minimum memory of a stalled response: stacks and buffers.
const minStallBytes = 32 << 10

// stalls bounds the memory of stalled responses. Above the limit, it aborts responses of the user whose responses occupy the most
// memory. It is safe for concurrent use.
type stalls struct {
	limit int // in bytes

	mu     sync.Mutex
	total  int // in bytes
	byUser map[string]*userStalls
}

// userStalls are the stalled responses of a user.
type userStalls struct {
	bytes int
	all   map[*progress]int // to the bytes of each response
}

func (s *stalls) add(p *progress) {
	s.mu.Lock()
	if s.byUser == nil {
		s.byUser = map[string]*userStalls{}
	}
	u := s.byUser[p.user]
	if u == nil {
		u = &userStalls{all: map[*progress]int{}}
		s.byUser[p.user] = u
	}
	bytes := max(p.bytes, minStallBytes)
	u.all[p] = bytes
	u.bytes += bytes
	s.total += bytes
	victims := s.choose()
	s.mu.Unlock()
	for _, victim := range victims {
		victim.abort()
	}
	// The operation may have ended before it was added.
	p.mu.Lock()
	hasEnded := !p.isStalled
	p.mu.Unlock()
	if hasEnded {
		s.remove(p)
	}
}

// choose removes and returns stalled operations until the others occupy no more memory than the limit. The caller holds the lock.
func (s *stalls) choose() (victims []*progress) {
	for s.total > s.limit {
		var most *userStalls
		for _, u := range s.byUser {
			if most == nil || u.bytes > most.bytes {
				most = u
			}
		}
		for p := range most.all {
			victims = append(victims, p)
			s.drop(p)
			break
		}
	}
	return victims
}

func (s *stalls) remove(p *progress) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.drop(p)
}

// drop removes p. The caller holds the lock.
func (s *stalls) drop(p *progress) {
	u := s.byUser[p.user]
	if u == nil {
		return
	}
	bytes := u.all[p] // 0 if the operation is not counted
	u.bytes -= bytes
	s.total -= bytes
	if delete(u.all, p); len(u.all) == 0 {
		delete(s.byUser, p.user)
	}
}
