package api

import (
	"context"
	"errors"
	"sync"
)

// ErrReplaced reports that the kind has been replaced or removed. The caller must look up the kind in the Register again.
var ErrReplaced = errors.New("the kind was replaced")

// WriteGate controls writes to a kind that can be replaced, such as a custom resource whose definition changes. It counts
// active writers, can block new writers for a while, and can be closed, which rejects new writers and waits for the active
// ones. A nil gate admits all writers. Safe for concurrent use.
type WriteGate struct {
	mu sync.Mutex
	// writers is the number of active writers. idle is signaled when writers drops to 0.
	writers int
	idle    sync.Cond
	// blocked is a channel that is closed when new writers are no longer blocked; nil if they are not blocked.
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

// Enter registers a writer, which must call Leave if Enter returns nil. While the gate is blocked, Enter waits. gone, if not
// nil, returns a channel that is closed when the client disconnects. Enter returns ErrReplaced if the gate is closed,
// ctx.Err() if ctx is done while Enter waits, and context.Canceled if the client disconnects while Enter waits.
func (u *WriteGate) Enter(ctx context.Context, gone func() <-chan struct{}) error {
	if u == nil {
		return nil
	}
	for {
		blocked, err := u.tryEnter()
		if blocked == nil {
			return err
		}
		var disconnected <-chan struct{}
		if gone != nil {
			disconnected = gone()
		}
		select {
		case <-blocked:
		case <-u.lifetime.Done():
		case <-disconnected:
			return context.Canceled
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryEnter registers a writer and returns nil, nil. If the gate is blocked, it returns a channel that is closed when the
// gate is unblocked; if the gate is closed, it returns ErrReplaced.
func (u *WriteGate) tryEnter() (blocked <-chan struct{}, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.lifetime.Err() != nil:
		return nil, ErrReplaced
	case u.blocked != nil:
		return u.blocked, nil
	}
	u.writers++
	return nil, nil
}

// Leave unregisters a writer that Enter registered.
func (u *WriteGate) Leave() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.writers--; u.writers == 0 {
		u.idle.Broadcast()
	}
}

// Block makes Enter wait until release is called, which may be called more than once. When Block is called, there must be no
// active writers, and the gate must not be blocked already.
func (u *WriteGate) Block() (release func()) {
	blocked := make(chan struct{})
	u.mu.Lock()
	defer u.mu.Unlock()
	u.blocked = blocked
	return sync.OnceFunc(func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.blocked = nil
		close(blocked)
	})
}

// Close makes Enter return ErrReplaced, including calls of Enter that are waiting, and then waits until all active writers
// have left.
func (u *WriteGate) Close() {
	u.cancel()
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.writers > 0 {
		u.idle.Wait()
	}
}

// OnClose calls do in a goroutine of its own when the gate is closed. Calling stop before the gate is closed prevents the call
// of do; stop reports whether it prevented the call.
func (u *WriteGate) OnClose(do func()) (stop func() bool) {
	if u == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(u.lifetime, do)
}
