package rbac

import (
	"context"
	"errors"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/store"
)

// followed are the kinds that the index is made of. Roles come before the bindings that refer to
// them.
var followed = []string{ClusterRoles, Roles, ClusterRoleBindings, RoleBindings}

// retryLoad is how long to wait before a kind that can't be followed is tried again.
const retryLoad = time.Second

// isDamage reports whether a kind can't be followed because of an object in it that is not
// readable. The server starts all the same, so that its administrator, who needs no rules, can
// delete that object; meanwhile nobody gets more than there was.
func isDamage(err error) bool {
	var unreadable *cache.UnreadableError
	return errors.As(err, &unreadable)
}

// load puts all that there is of a kind into the index, in the place of what was there, and returns
// what tells of what comes next.
func (a *Authorizer) load(ctx context.Context, kind string) (*cache.Watcher, error) {
	watcher, err := a.cache.Watch(ctx, cache.WatchOptions{Selection: cache.Selection{Kind: kind}, InitialState: true})
	if err != nil {
		a.lose(kind, err)
		return nil, err
	}
	var objects []*cache.Object
	for {
		events, err := watcher.Next(ctx)
		if err != nil {
			watcher.Close()
			a.lose(kind, err)
			return nil, err
		}
		for _, e := range events {
			if e.Type == cache.InitialEnd {
				a.replace(kind, objects, e.Revision)
				return watcher, nil
			}
			objects = append(objects, e.Object)
		}
	}
}

// lose notes that a kind can't be followed.
func (a *Authorizer) lose(kind string, err error) {
	if a.life.Err() != nil {
		return // nobody asks any more
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.lost[kind] && isDamage(err) {
		a.log.Error("cannot read all that says who may do what: it is left as it was", "kind", kind, "error", err)
	}
	a.lost[kind] = true
	a.move()
}

// follow keeps the index up to date until the Authorizer is closed. The watcher is nil if the kind
// could not be loaded.
func (a *Authorizer) follow(kind string, watcher *cache.Watcher) {
	for a.life.Err() == nil {
		if watcher == nil {
			a.pause(retryLoad)
		} else if errors.Is(a.tell(kind, watcher), cache.ErrClosed) {
			return
		}
		var err error
		if watcher, err = a.load(a.life, kind); errors.Is(err, cache.ErrClosed) {
			return
		}
	}
	if watcher != nil {
		watcher.Close()
	}
}

func (a *Authorizer) pause(long time.Duration) {
	select {
	case <-time.After(long):
	case <-a.life.Done():
	}
}

// tell puts events into the index until the watcher ends.
func (a *Authorizer) tell(kind string, watcher *cache.Watcher) error {
	defer watcher.Close()
	for {
		events, err := watcher.Next(a.life)
		if err != nil {
			return err
		}
		a.mu.Lock()
		for _, e := range events {
			if e.Object != nil {
				a.put(kind, e.Object, e.Type == cache.Deleted)
			}
			a.seen[kind] = e.Revision
		}
		a.move()
		a.mu.Unlock()
	}
}

// replace makes the index have exactly these objects of a kind.
func (a *Authorizer) replace(kind string, objects []*cache.Object, revision store.Revision) {
	a.mu.Lock()
	defer a.mu.Unlock()
	there := map[place]bool{}
	for _, o := range objects {
		there[place{o.Namespace(), o.Name()}] = true
	}
	for _, at := range a.index.places(kind) {
		if !there[at] {
			a.index.remove(kind, at)
		}
	}
	for _, o := range objects {
		a.put(kind, o, false)
	}
	a.seen[kind] = revision
	a.lost[kind] = false
	a.move()
}

// move ends a batch of changes: it wakes who waits for one. The caller holds the lock.
func (a *Authorizer) move() {
	a.index.settle()
	close(a.moved)
	a.moved = make(chan struct{})
}

// put puts an object into the index. One that does not have the form of its kind gives nothing to
// anybody. The caller holds the lock.
func (a *Authorizer) put(kind string, from *cache.Object, deleted bool) {
	at := place{from.Namespace(), from.Name()}
	var o object
	if !deleted {
		if err := decode(from.JSONWithoutManagedFields(), &o); err != nil {
			a.log.Error("cannot understand what says who may do what: it is left out", "key", from.Key(), "error", err)
			deleted = true
		}
	}
	switch {
	case deleted:
		a.index.remove(kind, at)
	case isRoles(kind):
		a.index.setRole(at, &o)
	default:
		a.index.setBinding(at, &o)
	}
}

func isRoles(kind string) bool { return kind == ClusterRoles || kind == Roles }

func (x *index) remove(kind string, at place) {
	if isRoles(kind) {
		x.removeRole(at)
	} else {
		x.removeBinding(at)
	}
}

// places returns where there are objects of a kind.
func (x *index) places(kind string) (found []place) {
	cluster := kind == ClusterRoles || kind == ClusterRoleBindings
	if !isRoles(kind) {
		for at := range x.bindings {
			if (at.namespace == "") == cluster {
				found = append(found, at)
			}
		}
		return found
	}
	for at, r := range x.roles {
		if (at.namespace == "") == cluster && r.exists {
			found = append(found, at)
		}
	}
	return found
}
