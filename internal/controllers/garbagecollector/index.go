package garbagecollector

import (
	"maps"
	"slices"
	"strings"
	"sync"
)

// index maps owners to their dependents. An owner has an entry as long as an ownerReference refers to it, whether the
// owner exists or not. It is safe for concurrent use.
type index struct {
	mu      sync.Mutex
	byOwner map[string]*ownerEntry // maps the UID of an owner to its entry
}

// ownerEntry is the entry of an owner in the index.
type ownerEntry struct {
	// dependents contains the key of each object that refers to the owner; the value is true if the reference sets
	// blockOwnerDeletion.
	dependents map[string]bool
	// blocking is the number of dependents whose reference sets blockOwnerDeletion.
	blocking int
	// waiting is the key of the owner if it is being deleted in the foreground and is blocked by a dependent; otherwise "".
	waiting string
	// isDeleted reports whether the deletion of the owner was observed.
	isDeleted bool
}

// reset removes all entries.
func (x *index) reset() {
	x.mu.Lock()
	defer x.mu.Unlock()
	x.byOwner = map[string]*ownerEntry{}
}

// change replaces the ownerReferences of the dependent with the key. It returns the keys of the waiting owners that are
// no longer blocked.
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
		x.dropIfUnreferenced(r.uid)
	}
	return unblocked
}

// add adds a reference of the dependent with the key. It clones the UID, because a substring would keep the text of the
// whole object in memory. The caller holds mu.
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

// remove removes a reference of the dependent with the key; the entry of the owner remains. The caller holds mu.
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

// dropIfUnreferenced removes the entry of an owner if it has no dependents. The caller holds mu.
func (x *index) dropIfUnreferenced(uid string) {
	if o := x.byOwner[uid]; o != nil && len(o.dependents) == 0 {
		delete(x.byOwner, uid)
	}
}

// markDeleted records the deletion of the object with the UID, and reports whether it has dependents. It does nothing if the
// object has no dependents.
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

// isDeleted reports whether the owner with the UID has dependents and its deletion was observed.
func (x *index) isDeleted(uid string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	o := x.byOwner[uid]
	return o != nil && o.isDeleted
}

// dependents returns the keys of the dependents of the owner with the UID, in random order.
func (x *index) dependents(uid string) []string {
	x.mu.Lock()
	defer x.mu.Unlock()
	if o := x.byOwner[uid]; o != nil {
		return slices.Collect(maps.Keys(o.dependents))
	}
	return nil
}

// hasDependents reports whether an ownerReference with the UID exists.
func (x *index) hasDependents(uid string) bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	return x.byOwner[uid] != nil
}

// waitUntilUnblocked reports whether a dependent blocks the deletion of an owner. If so, it registers the owner's key, which
// change returns when it removes the last blocking reference.
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

// isBlocked reports whether a dependent blocks the deletion of the owner. key is the key of the owner, because a reference of
// an object to itself does not block.
func (o *ownerEntry) isBlocked(key string) bool {
	return o.blocking > 1 || o.blocking == 1 && !o.dependents[key]
}
