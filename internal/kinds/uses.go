package kinds

import (
	"context"
	"sync"
)

// Uses counts who writes objects of a kind, so that whoever puts another kind in its place can wait until
// nobody does by the old one any more. A kind that is never replaced has none.
type Uses struct {
	writers sync.RWMutex
	// life ends when another kind has been put in the place of this one.
	life context.Context
	end  context.CancelFunc
}

// NewUses returns those of a new kind.
func NewUses() *Uses {
	u := &Uses{}
	u.life, u.end = context.WithCancel(context.Background())
	return u
}

// Enter notes that somebody begins to write. It returns false if another kind has been put in the place of
// this one, or none: then nobody may write, and the kind must be looked up again.
func (u *Uses) Enter() bool {
	if u == nil {
		return true
	}
	u.writers.RLock()
	if u.life.Err() != nil {
		u.writers.RUnlock()
		return false
	}
	return true
}

// Leave notes that who has entered is done.
func (u *Uses) Leave() {
	if u != nil {
		u.writers.RUnlock()
	}
}

// Hold keeps everybody waiting who wants to enter. Nobody has entered yet.
func (u *Uses) Hold() (release func()) {
	u.writers.Lock()
	return u.writers.Unlock
}

// IsHeld reports whether somebody keeps those waiting who want to enter.
func (u *Uses) IsHeld() bool {
	if !u.writers.TryRLock() {
		return true
	}
	u.writers.RUnlock()
	return false
}

// End lets nobody enter any more, and returns when all have left.
func (u *Uses) End() {
	u.end()
	u.writers.Lock() // whoever had entered has left
	defer u.writers.Unlock()
}

// OnEnd has something done when nobody can enter any more, unless it is stopped before.
func (u *Uses) OnEnd(do func()) (stop func() bool) {
	if u == nil {
		return func() bool { return true }
	}
	return context.AfterFunc(u.life, do)
}
