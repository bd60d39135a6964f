package api

import (
	"context"
	"errors"
	"sync"
)

// ErrReplaced says that another kind has been put in the place of the one that was meant, or none: it must be looked up
// again.
var ErrReplaced = errors.New("the kind has changed meanwhile")

// Uses counts who writes objects of a kind, so that whoever puts another kind in its place can wait until
// nobody does by the old one any more. A kind that is never replaced has none.
type Uses struct {
	mu sync.Mutex
	// writers is how many have entered. When the last one has left, idle is told.
	writers int
	idle    sync.Cond
	// held is closed when nobody keeps writers waiting any more; nil if nobody does.
	held chan struct{}
	// life ends when another kind has been put in the place of this one.
	life context.Context
	end  context.CancelFunc
}

// NewUses returns those of a new kind.
func NewUses() *Uses {
	u := &Uses{}
	u.idle.L = &u.mu
	u.life, u.end = context.WithCancel(context.Background())
	return u
}

// Enter notes that somebody begins to write. While somebody holds writers it waits: for as long as the context lasts,
// and until whoever wants to write has gone, if gone is not nil. It returns ErrReplaced if nobody may write by this
// kind any more, and the error of a context if nobody has entered because there was no more time, or nobody who waits.
func (u *Uses) Enter(ctx context.Context, gone func() <-chan struct{}) error {
	if u == nil {
		return nil
	}
	for {
		held, err := u.tryEnter()
		if held == nil {
			return err
		}
		var left <-chan struct{}
		if gone != nil {
			left = gone()
		}
		select {
		case <-held:
		case <-u.life.Done():
		case <-left:
			return context.Canceled
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// tryEnter returns what to wait for, if somebody holds writers.
func (u *Uses) tryEnter() (held <-chan struct{}, err error) {
	u.mu.Lock()
	defer u.mu.Unlock()
	switch {
	case u.life.Err() != nil:
		return nil, ErrReplaced
	case u.held != nil:
		return u.held, nil
	}
	u.writers++
	return nil, nil
}

// Leave notes that who has entered is done.
func (u *Uses) Leave() {
	if u == nil {
		return
	}
	u.mu.Lock()
	defer u.mu.Unlock()
	if u.writers--; u.writers == 0 {
		u.idle.Broadcast()
	}
}

// Hold keeps everybody waiting who wants to enter. Nobody has entered yet, and nobody else holds them.
func (u *Uses) Hold() (release func()) {
	held := make(chan struct{})
	u.mu.Lock()
	defer u.mu.Unlock()
	u.held = held
	return sync.OnceFunc(func() {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.held = nil
		close(held)
	})
}

// End lets nobody enter any more, also nobody who is held, and returns when all have left.
func (u *Uses) End() {
	u.end()
	u.mu.Lock()
	defer u.mu.Unlock()
	for u.writers > 0 {
		u.idle.Wait()
	}
}

// OnEnd has something done when nobody can enter any more, unless it is stopped before.
func (u *Uses) OnEnd(do func()) (stop func() bool) {
	if u == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(u.life, do)
}
