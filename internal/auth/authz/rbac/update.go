package rbac

import "github.com/cadastre/cadastre/internal/watchcache"

// Resources are the resources of roles and bindings, as they are named in keys. Roles come before the bindings that refer to
// them.
var Resources = []string{ClusterRoles, Roles, ClusterRoleBindings, RoleBindings}

// keeper keeps the index of an Authorizer.
type keeper struct{ *Authorizer }

// Change implements follow.Keeper.
func (k keeper) Change(kind string, events []watchcache.Event) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for _, e := range events {
		k.put(kind, e.Object, e.Type == watchcache.Deleted)
	}
	k.index.settle()
}

// Replace implements follow.Keeper.
func (k keeper) Replace(kind string, objects []*watchcache.Object) {
	k.mu.Lock()
	defer k.mu.Unlock()
	there := map[place]bool{}
	for _, o := range objects {
		there[place{o.Namespace(), o.Name()}] = true
	}
	for _, at := range k.index.places(kind) {
		if !there[at] {
			k.index.remove(kind, at)
		}
	}
	for _, o := range objects {
		k.put(kind, o, false)
	}
	k.index.settle()
}

// put puts an object into the index. One that does not have the form of its kind gives nothing to
// anybody. The caller holds the lock.
func (a *Authorizer) put(kind string, from *watchcache.Object, deleted bool) {
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
