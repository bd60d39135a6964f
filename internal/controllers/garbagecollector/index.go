package garbagecollector

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// index maps owners to their dependents. An owner has an entry as long as an object references it, whether the owner
// exists or not. It is safe for concurrent use.
type index struct {
	mu      sync.Mutex
	byOwner map[string]*ownerEntry // UID → entry
}

// ownerEntry is the entry of an owner.
type ownerEntry struct {
	// dependents has the keys of the objects that reference the owner; the value is set if the reference has
	// blockOwnerDeletion. blocking is the number of those.
	dependents map[string]bool
	blocking   int
	// waiting is the key of the owner if it waits until no dependent blocks it; otherwise "".
	waiting string
	// isDeleted is set when the deletion of the owner was observed.
	isDeleted bool
}

func (x *index) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byOwner = map[string]*ownerEntry{}
}

// change updates the references of a dependent. It returns the keys of waiting owners that are no longer blocked.
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

// add adds a reference. The UID is cloned, because a substring would keep the object's text alive.
func (x *index) add(key string, r reference) {
	o := x.byOwner[r.uid]
	if o == nil {
		o = &ownerEntry{dependents: map[string]bool{}}
		x.byOwner[strings.Clone(r.uid)] = o
	}
	if r.blocks && !o.dependents[key] {
		o.blocking++
	}
	o.dependents[key] = o.dependents[key] || r.blocks
}

func (x *index) remove(key string, r reference) {
	o := x.byOwner[r.uid]
	if o == nil {
		return
	}
	if o.dependents[key] {
		o.blocking--
	}
	delete(o.dependents, key)
}

// drop removes the entry of an owner without dependents.
func (x *index) drop(uid string) {
	if o := x.byOwner[uid]; o != nil && len(o.dependents) == 0 {
		delete(x.byOwner, uid)
	}
}

// markDeleted records the deletion of an owner. It reports whether the owner has dependents.
func (x *index) markDeleted(uid string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.byOwner[uid]
	if o == nil {
		return false
	}
	o.isDeleted, o.waiting = true, ""
	return true
}

// isDeleted reports whether the deletion of an owner was observed.
func (x *index) isDeleted(uid string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.byOwner[uid]
	return o != nil && o.isDeleted
}

// dependents returns the keys of an owner's dependents.
func (x *index) dependents(uid string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if o := x.byOwner[uid]; o != nil {
		return slices.Collect(maps.Keys(o.dependents))
	}
	return nil
}

// hasDependents reports whether an owner has dependents.
func (x *index) hasDependents(uid string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.byOwner[uid] != nil
}

// waitUntilUnblocked reports whether an owner is blocked. If it is, change returns its key when it no longer is.
func (x *index) waitUntilUnblocked(uid, key string) (isBlocked bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.byOwner[uid]
	if o == nil || !o.isBlocked(key) {
		return false
	}
	o.waiting = key
	return true
}

// isBlocked reports whether a dependent blocks the owner with a key; an owner does not block itself.
func (o *ownerEntry) isBlocked(key string) bool {
	return o.blocking > 1 || o.blocking == 1 && !o.dependents[key]
}
