package cache

import (
	"container/heap"
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

var errExactly = errors.New("cache: expected a freshness other than Exactly, which is for lists")

// freshen waits until the cache is as fresh as it must be.
func (c *Cache) freshen(ctx context.Context, f Freshness) error {
	if err := c.openError(); err != nil {
		return err
	}
	switch f.mode {
	case anyAge:
		return nil
	case latest:
		now, err := c.store.Revision(ctx)
		if errors.Is(err, store.ErrClosed) {
			return ErrClosed
		}
		if err != nil {
			return err
		}
		return c.progress.wait(ctx, now)
	}
	if c.progress.revision() >= f.revision {
		return nil
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
	waiting waiters
	closed  bool
}

// waiter waits for a revision.
type waiter struct {
	revision store.Revision
	reached  chan struct{}
	place    int // among the waiters; -1 when it is not there any more
}

// waiters is a heap: the one that waits for the lowest revision comes first.
type waiters []*waiter

func (w waiters) Len() int           { return len(w) }
func (w waiters) Less(i, j int) bool { return w[i].revision < w[j].revision }

func (w waiters) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].place, w[j].place = i, j
}

func (w *waiters) Push(x any) {
	added := x.(*waiter)
	added.place = len(*w)
	*w = append(*w, added)
}

func (w *waiters) Pop() any {
	last := len(*w) - 1
	popped := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	popped.place = -1
	return popped
}

func (p *progress) revision() store.Revision { return store.Revision(p.now.Load()) }

// move notes that all up to a revision has been seen.
func (p *progress) move(revision store.Revision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Store(int64(revision))
	for len(p.waiting) > 0 && p.waiting[0].revision <= revision {
		close(heap.Pop(&p.waiting).(*waiter).reached)
	}
}

// wait waits until all up to a revision has been seen.
func (p *progress) wait(ctx context.Context, revision store.Revision) error {
	if p.revision() >= revision {
		return nil
	}
	w := &waiter{revision: revision, reached: make(chan struct{}), place: -1}
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
		heap.Push(&p.waiting, w)
	}
	return nil
}

func (p *progress) leave(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.place >= 0 {
		heap.Remove(&p.waiting, w.place)
	}
}

// close wakes all who wait; nobody will wait any more.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for len(p.waiting) > 0 {
		close(heap.Pop(&p.waiting).(*waiter).reached)
	}
}
