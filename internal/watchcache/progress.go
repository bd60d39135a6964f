package watchcache

import (
	"container/heap"
	"context"
	"sync"
	"sync/atomic"

	"github.com/cadastre/cadastre/internal/storage"
)

// progress is the revision up to which all commits have been applied to the cache.
type progress struct {
	now atomic.Int64 // written only by the reflector, while it holds mu

	mu      sync.Mutex
	waiting waiters
	closed  bool
}

// waiter is a goroutine that waits until progress reaches a revision.
type waiter struct {
	revision storage.Revision
	reached  chan struct{}
	index    int // the position in the heap; -1 if the waiter is not in the heap
}

// waiters is a container/heap of waiters, ordered by revision.
type waiters []*waiter

func (w waiters) Len() int           { return len(w) }
func (w waiters) Less(i, j int) bool { return w[i].revision < w[j].revision }

func (w waiters) Swap(i, j int) {
	w[i], w[j] = w[j], w[i]
	w[i].index, w[j].index = i, j
}

func (w *waiters) Push(x any) {
	added := x.(*waiter)
	added.index = len(*w)
	*w = append(*w, added)
}

func (w *waiters) Pop() any {
	last := len(*w) - 1
	popped := (*w)[last]
	(*w)[last] = nil
	*w = (*w)[:last]
	popped.index = -1
	return popped
}

func (p *progress) revision() storage.Revision { return storage.Revision(p.now.Load()) }

// advance sets progress to revision, and wakes the waiters for revisions <= revision.
func (p *progress) advance(revision storage.Revision) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.now.Store(int64(revision))
	for len(p.waiting) > 0 && p.waiting[0].revision <= revision {
		close(heap.Pop(&p.waiting).(*waiter).reached)
	}
}

// wait blocks until progress reaches revision. It returns ErrClosed if the cache is closed, and the context's error if the
// context ends.
func (p *progress) wait(ctx context.Context, revision storage.Revision) error {
	if p.revision() >= revision {
		return nil
	}
	w := &waiter{revision: revision, reached: make(chan struct{}), index: -1}
	if err := p.register(w); err != nil {
		return err
	}
	select {
	case <-w.reached:
		if p.revision() < revision {
			return ErrClosed
		}
		return nil
	case <-ctx.Done():
		p.unregister(w)
		return ctx.Err()
	}
}

func (p *progress) register(w *waiter) error {
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

func (p *progress) unregister(w *waiter) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if w.index >= 0 {
		heap.Remove(&p.waiting, w.index)
	}
}

// close wakes all waiters. Their calls of wait, and later ones, return ErrClosed.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
	for len(p.waiting) > 0 {
		close(heap.Pop(&p.waiting).(*waiter).reached)
	}
}
