package rbac

import "github.com/cadastre/cadastre/internal/watchcache"

// Resources are the resources of roles and bindings, as GROUP/RESOURCE in storage keys. Roles precede the bindings that refer
// to them.
var Resources = []string{ClusterRoles, Roles, ClusterRoleBindings, RoleBindings}

// indexUpdater updates the index of an Authorizer from the watch cache. It implements informer.Handler.
type indexUpdater struct{ *Authorizer }

// Change implements informer.Handler.
func (u indexUpdater) Change(kind string, events []watchcache.Event) {
	u.mu.Lock()
	defer u.mu.Unlock()
	for _, e := range events {
		u.put(kind, e.Object, e.Type == watchcache.Deleted)
	}
	u.aggregate()
}

// Replace implements informer.Handler.
func (u indexUpdater) Replace(kind string, objects []*watchcache.Object) {
	u.mu.Lock()
	defer u.mu.Unlock()
	current := map[namespacedName]bool{}
	for _, o := range objects {
		current[namespacedName{o.Namespace(), o.Name()}] = true
	}
	for _, at := range u.index.names(kind) {
		if !current[at] {
			u.index.remove(kind, at)
		}
	}
	for _, o := range objects {
		u.put(kind, o, false)
	}
	u.aggregate()
}

// aggregate computes the rules of aggregated ClusterRoles. The caller holds the lock.
func (u indexUpdater) aggregate() {
	if over := u.index.aggregate(); over != nil {
		u.log.Warn("aggregated ClusterRoles keep their stored rules, because they select too many roles or rules", "count", len(over), "first", over[0])
	}
}

// put updates the index after one object was written or deleted. An object that cannot be decoded is logged and grants
// nothing. The caller holds the lock.
func (a *Authorizer) put(kind string, from *watchcache.Object, deleted bool) {
	at := namespacedName{from.Namespace(), from.Name()}
	var o object
	if !deleted {
		if err := decode(from.JSONWithoutManagedFields(), &o); err != nil {
			a.log.Error("decoding role or binding failed; it grants nothing", "key", from.Key(), "error", err)
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

func (x *index) remove(kind string, at namespacedName) {
	if isRoles(kind) {
		x.removeRole(at)
	} else {
		x.removeBinding(at)
	}
}

// names returns the namespaces and names of the indexed objects of a resource.
func (x *index) names(kind string) (found []namespacedName) {
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
