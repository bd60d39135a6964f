package garbagecollector

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// index knows who depends on whom. An owner is in it as long as somebody depends on it, whether it exists
// or not.
type index struct {
	mu      sync.Mutex
	byOwner map[string]*owned // by uid
}

// owned is what depends on one owner.
type owned struct {
	// dependants are the keys of those that name the owner; the value says whether they block it, and
	// blocking is how many do.
	dependants map[string]bool
	blocking   int
	// waiting is the key of the owner if it waits until nothing blocks it.
	waiting string
	// isGone says that the owner was seen to go.
	isGone bool
}

func (x *index) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byOwner = map[string]*owned{}
}

// change notes that a dependant has other references than before. It returns the keys of owners that
// nothing blocks any more.
func (x *index) change(key string, before, after []reference) (unblocked []string) {
	x.mu.Lock()
	defer x.mu.Unlock()
	for _, r := range before {
		x.remove(key, r)
	}
	for _, r := range after {
		x.add(key, r)
	}
	for _, r := range before {
		if o := x.byOwner[r.uid]; o != nil && o.waiting != "" && !o.isBlocked(o.waiting) {
			unblocked = append(unblocked, o.waiting)
			o.waiting = ""
		}
		x.drop(r.uid)
	}
	return unblocked
}

// add notes a reference. Strings are copied, since they keep alive the text of the object that they are from.
func (x *index) add(key string, r reference) {
	o := x.byOwner[r.uid]
	if o == nil {
		o = &owned{dependants: map[string]bool{}}
		x.byOwner[strings.Clone(r.uid)] = o
	}
	if r.blocks && !o.dependants[key] {
		o.blocking++
	}
	o.dependants[key] = o.dependants[key] || r.blocks
}

func (x *index) remove(key string, r reference) {
	o := x.byOwner[r.uid]
	if o == nil {
		return
	}
	if o.dependants[key] {
		o.blocking--
	}
	delete(o.dependants, key)
}

// drop forgets an owner on which nothing depends.
func (x *index) drop(uid string) {
	if o := x.byOwner[uid]; o != nil && len(o.dependants) == 0 {
		delete(x.byOwner, uid)
	}
}

// gone notes that an owner is no more. It reports whether anything depends on it.
func (x *index) gone(uid string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.byOwner[uid]
	if o == nil {
		return false
	}
	o.isGone, o.waiting = true, ""
	return true
}

// isGone reports whether an owner was seen to go.
func (x *index) isGone(uid string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.byOwner[uid]
	return o != nil && o.isGone
}

// dependants returns the keys of those that depend on an owner.
func (x *index) dependants(uid string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if o := x.byOwner[uid]; o != nil {
		return slices.Collect(maps.Keys(o.dependants))
	}
	return nil
}

// hasDependants reports whether anything depends on an owner.
func (x *index) hasDependants(uid string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.byOwner[uid] != nil
}

// await reports whether an owner is blocked. If so, change returns its key when it no longer is.
func (x *index) await(uid, key string) (isBlocked bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.byOwner[uid]
	if o == nil || !o.isBlocked(key) {
		return false
	}
	o.waiting = key
	return true
}

// isBlocked reports whether the owner at a key is blocked. By itself it is not.
func (o *owned) isBlocked(key string) bool {
	return o.blocking > 1 || o.blocking == 1 && !o.dependants[key]
}
