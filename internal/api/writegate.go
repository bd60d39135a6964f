package api

import (
	"context"
	"errors"
	"sync"
)

// ErrReplaced reports that the kind has been replaced or removed; the caller must look it up again.
var ErrReplaced = errors.New("the kind was replaced")

// WriteGate is the gate for writes to a kind that may be replaced: it counts active writers, can block new ones, and is
// closed after they have finished. A nil gate admits all writers. Safe for concurrent use.
type WriteGate struct {
	mu sync.Mutex
	// writers is the number of active writers. idle is signaled when it drops to 0.
	writers int
	idle    sync.Cond
	// blocked is closed when writers are unblocked; nil if they are not blocked.
	blocked chan struct{}
	// lifetime is canceled when the gate is closed.
	lifetime context.Context
	cancel   context.CancelFunc
}

// NewWriteGate returns an open gate.
func NewWriteGate() *WriteGate {
	u := &WriteGate{}
	u.idle.L = &u.mu
	u.lifetime, u.cancel = context.WithCancel(context.Background())
	return u
}

// Enter registers a writer. While the gate is blocked, Enter waits until ctx is done or the channel that gone returns,
// if gone is not nil, is closed. It returns ErrReplaced if the gate is closed, ctx.Err() if ctx is done, and
// context.Canceled if gone is closed.
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

// tryEnter registers a writer, or returns the channel to wait for if the gate is blocked.
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

// Leave unregisters a writer.
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

// Block makes Enter wait until release is called. There must be no active writers and no other Block in effect.
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

// Close rejects new and waiting writers and blocks until active ones finish.
func (u *WriteGate) Close() {
	u.cancel()
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.writers > 0 {
		u.idle.Wait()
	}
}

// OnClose runs do in a goroutine when the gate is closed, unless stop is called before.
func (u *WriteGate) OnClose(do func()) (stop func() bool) {
	if u == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(u.lifetime, do)
}
