package kinds

import "sync"

// Uses counts who writes objects of a kind, so that whoever puts another kind in its place can wait until
// nobody does by the old one any more. A kind that is never replaced has none.
type Uses struct {
	writers sync.RWMutex
	isOver  bool
}

// Enter notes that somebody begins to write. It returns false if another kind has been put in the place of
// this one, or none: then nobody may write, and the kind must be looked up again.
func (u *Uses) Enter() bool {
	if u == nil {
		return true
	}
	u.writers.RLock()
	if u.isOver {
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

// End lets nobody enter any more, and returns when all have left.
func (u *Uses) End() {
	u.writers.Lock()
	u.isOver = true
	u.writers.Unlock()
}
