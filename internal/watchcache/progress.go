package watchcache

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/storage"
)

// progress is the revision up to which all has been seen.
type progress struct {
	now atomic.Int64 // only the follower moves it, under mu

	mu      sync.Mutex
	waiting waiters
	closed  bool
}

// waiter waits for a revision.
type waiter struct {
	revision storage.Revision
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

func (p *progress) revision() storage.Revision { return storage.Revision(p.now.Load()) }

// move notes that all up to a revision has been seen.
func (p *progress) move(revision storage.Revision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Store(int64(revision))
	for len(p.waiting) > 0 && p.waiting[0].revision <= revision {
		close(heap.Pop(&p.waiting).(*waiter).reached)
	}
}

// wait waits until all up to a revision has been seen.
func (p *progress) wait(ctx context.Context, revision storage.Revision) error {
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
