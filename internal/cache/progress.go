package cache

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/store"
)

var (
	// ErrTooOld says that what was asked for is older than what is kept, or that a watcher
	// was too slow. Whoever gets it lists anew and goes on from there.
	ErrTooOld = errors.New("cache: the revision is older than the history that is kept; list again and go on from there")
	// ErrClosed says that the cache has been closed.
	ErrClosed = errors.New("cache: closed")
)

// TooNewError says that a revision was asked for that has not been.
type TooNewError struct{ Wanted, Now store.Revision }

func (e *TooNewError) Error() string {
	return fmt.Sprintf("cache: expected a revision up to %d, received %d; try again later, or ask for a revision that has been", e.Now, e.Wanted)
}

// Freshness says how new must be what is read. The zero Freshness is Latest.
type Freshness struct {
	mode     freshness
	revision store.Revision
}

type freshness uint8

const (
	latest freshness = iota
	anyAge
	notOlderThan
	exactly
)

// Latest reads show all that was acknowledged before they began, by whichever process. Any
// reads show what the cache has, which is all that this process has written, and may be behind
// others.
var (
	Latest = Freshness{mode: latest}
	Any    = Freshness{mode: anyAge}
)

// NotOlderThan reads show the state at a revision, or a newer one.
func NotOlderThan(revision store.Revision) Freshness { return Freshness{notOlderThan, revision} }

// Exactly is for lists that show the state at a revision.
func Exactly(revision store.Revision) Freshness { return Freshness{exactly, revision} }

// freshen waits until the cache is as fresh as it must be.
func (c *Cache) freshen(ctx context.Context, f Freshness) error {
	switch f.mode {
	case anyAge:
		return c.openError()
	case latest:
		now, err := c.store.Revision(ctx)
		if err != nil {
			return err
		}
		return c.progress.wait(ctx, now)
	}
	if c.progress.revision() >= f.revision {
		return c.openError()
	}
	// It may be a moment ahead, as when another process has given it out.
	short, cancel := context.WithTimeout(ctx, c.options.FutureWait)
	defer cancel()
	err := c.progress.wait(short, f.revision)
	if errors.Is(err, context.DeadlineExceeded) && ctx.Err() == nil {
		return &TooNewError{Wanted: f.revision, Now: c.progress.revision()}
	}
	return err
}

// progress is the revision up to which all has been seen.
type progress struct {
	now     atomic.Int64
	mu      sync.Mutex
	waiting []*waiter
	closed  bool
}

// waiter waits for a revision.
type waiter struct {
	revision store.Revision
	reached  chan struct{}
}

func (p *progress) revision() store.Revision { return store.Revision(p.now.Load()) }

// move notes that all up to a revision has been seen.
func (p *progress) move(revision store.Revision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Store(int64(revision))
	rest := p.waiting[:0]
	for _, w := range p.waiting {
		if w.revision <= revision {
			close(w.reached)
		} else {
			rest = append(rest, w)
		}
	}
	clear(p.waiting[len(rest):])
	p.waiting = rest
}

// wait waits until all up to a revision has been seen.
func (p *progress) wait(ctx context.Context, revision store.Revision) error {
	if p.revision() >= revision {
		return nil
	}
	w := &waiter{revision: revision, reached: make(chan struct{})}
	if err := p.enter(w); err != nil {
		return err
	}
	select {
	case <-w.reached:
		if p.revision() < revision {
			return ErrClosed
		}
		return nil
	case <-ctx.Done():
		p.leave(w)
		return ctx.Err()
	}
}

func (p *progress) enter(w *waiter) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.closed:
		return ErrClosed
	case p.revision() >= w.revision:
		close(w.reached)
	default:
		p.waiting = append(p.waiting, w)
	}
	return nil
}

func (p *progress) leave(left *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, w := range p.waiting {
		if w == left {
			last := len(p.waiting) - 1
			p.waiting[i], p.waiting[last] = p.waiting[last], nil
			p.waiting = p.waiting[:last]
			return
		}
	}
}

// close wakes all who wait; nobody will wait any more.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for _, w := range p.waiting {
		close(w.reached)
	}
	p.waiting = nil
}
