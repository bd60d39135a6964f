package api

import (
	"context"
	"errors"
	"sync"
)

// ErrReplaced reports that the kind has been replaced or removed. The caller must look up the kind in the Register again.
var ErrReplaced = errors.New("the kind was replaced")

// WriteGate controls writes to a kind that can be replaced, such as a custom resource whose CustomResourceDefinition changes.
// It counts active writers, can block new writers until they are released, and can be closed: then it rejects new writers and
// waits for active writers. A nil gate admits all writers. It is safe for concurrent use.
type WriteGate struct {
	mu sync.Mutex
	// writers is the number of active writers. idle is signaled when writers drops to 0.
	writers int
	idle    sync.Cond
	// blocks is the number of calls of Block that are not released; blocked is a channel that is closed when it drops to 0, and
	// nil while it is 0.
	blocks  int
	blocked chan struct{}
	// lifetime is canceled when the gate is closed.
	lifetime context.Context
	cancel   context.CancelFunc
}

// NewWriteGate returns a gate that is neither blocked nor closed.
func NewWriteGate() *WriteGate {
	u := &WriteGate{}
	u.idle.L = &u.mu
	u.lifetime, u.cancel = context.WithCancel(context.Background())
	return u
}

// Enter registers a writer, which must call Leave if Enter returns nil. While the gate is blocked, Enter waits. gone returns
// a channel that is closed when the client disconnects; it may be nil. Enter returns ErrReplaced if the gate is closed,
// ctx.Err() if ctx is done while Enter waits, and context.Canceled if the client disconnects while Enter waits.
func (g *WriteGate) Enter(ctx context.Context, gone func() <-chan struct{}) error {
	if g == nil {
		return nil
	}
	for {
		blocked, err := g.tryEnter()
		if blocked == nil {
			return err
		}
		var disconnected <-chan struct{}
		if gone != nil {
			disconnected = gone()
		}
		select {
		case <-blocked:
		case <-g.lifetime.Done():
		case <-disconnected:
			return context.Canceled
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryEnter registers a writer and returns nil, nil. If the gate is blocked, it returns a channel that is closed when the
// gate is unblocked; if the gate is closed, it returns ErrReplaced.
func (g *WriteGate) tryEnter() (blocked <-chan struct{}, err error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	switch {
	case g.lifetime.Err() != nil:
		return nil, ErrReplaced
	case g.blocked != nil:
		return g.blocked, nil
	}
	g.writers++
	return nil, nil
}

// Leave unregisters a writer for which Enter returned nil.
func (g *WriteGate) Leave() {
	if g == nil {
		return
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.writers--; g.writers == 0 {
		g.idle.Broadcast()
	}
}

// Block makes Enter wait until release is called. release may be called more than once. If Block is called more than once, Enter
// waits for all releases. When Block is called, there must be no active writers.
func (g *WriteGate) Block() (release func()) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.blocks++; g.blocks == 1 {
		g.blocked = make(chan struct{})
	}
	return sync.OnceFunc(g.unblock)
}

// unblock undoes one call of Block.
func (g *WriteGate) unblock() {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.blocks--; g.blocks == 0 {
		close(g.blocked)
		g.blocked = nil
	}
}

// Close makes Enter return ErrReplaced, including calls of Enter that are waiting, and then waits until all active writers
// have left.
func (g *WriteGate) Close() {
	g.cancel()
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.writers > 0 {
		g.idle.Wait()
	}
}

// OnClose calls do in a goroutine of its own when the gate is closed. Calling stop before the gate is closed prevents the call
// of do; stop reports whether it prevented the call.
func (g *WriteGate) OnClose(do func()) (stop func() bool) {
	if g == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(g.lifetime, do)
}
