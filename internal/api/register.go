package api

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
)

// Register is the kinds that there are now. Whoever reads it is never kept waiting: changes make
// a new one.
type Register struct {
	changing sync.Mutex
	now      atomic.Pointer[registered]
}

// registered is the content of a register. It never changes. A change copies the group that it is about.
type registered struct {
	groups map[string]*registeredGroup
	all    func() []*Kind // in the order of groups and resources, put together when somebody asks
}

// registeredGroup is the kinds of a group.
type registeredGroup struct{ byResource, byName map[string]*Kind }

// NewRegister returns a register with some kinds.
func NewRegister(kinds ...*Kind) (*Register, error) {
	r := &Register{}
	r.now.Store(newRegistered(map[string]*registeredGroup{}))
	return r, r.Add(kinds...)
}

func newRegistered(groups map[string]*registeredGroup) *registered {
	return &registered{groups, sync.OnceValue(func() (all []*Kind) {
		for _, g := range groups {
			all = slices.AppendSeq(all, maps.Values(g.byResource))
		}
		slices.SortFunc(all, func(a, b *Kind) int {
			return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
		})
		return all
	})}
}

// Add adds kinds, or puts them in the places of those with the same group and resource: all, or none if one can't be
// added. Kinds must not be changed any more.
func (r *Register) Add(kinds ...*Kind) error {
	return r.change(func(c *registerChange) error {
		for _, k := range kinds {
			if err := c.add(k); err != nil {
				return err
			}
		}
		return nil
	})
}

// Remove takes out a kind.
func (r *Register) Remove(group, resource string) {
	_ = r.change(func(c *registerChange) error { c.remove(group, resource); return nil }) // which does not fail
}

func (r *Register) change(do func(*registerChange) error) error {
	r.changing.Lock()
	defer r.changing.Unlock()
	c := registerChange{groups: maps.Clone(r.now.Load().groups), copied: map[string]bool{}}
	if err := do(&c); err != nil {
		return err
	}
	r.now.Store(newRegistered(c.groups))
	return nil
}

// registerChange is a change under way. Groups are copied before they are changed.
type registerChange struct {
	groups map[string]*registeredGroup
	copied map[string]bool
}

func (c *registerChange) group(name string) *registeredGroup {
	if c.copied[name] {
		return c.groups[name]
	}
	g := &registeredGroup{map[string]*Kind{}, map[string]*Kind{}}
	if there := c.groups[name]; there != nil {
		g = &registeredGroup{maps.Clone(there.byResource), maps.Clone(there.byName)}
	}
	c.groups[name], c.copied[name] = g, true
	return g
}

func (c *registerChange) add(k *Kind) error {
	if len(k.Versions) == 0 {
		return fmt.Errorf("kind %s: expected at least one version, received none", k)
	}
	g := c.group(k.Group)
	if other := g.byName[k.Name]; other != nil && other.Resource != k.Resource {
		return fmt.Errorf("kind %s of group %q: %s has this name already; choose another", k.Name, k.Group, other)
	}
	c.remove(k.Group, k.Resource)
	g.byResource[k.Resource], g.byName[k.Name] = k, k
	return nil
}

func (c *registerChange) remove(group, resource string) {
	if g := c.group(group); g.byResource[resource] != nil {
		delete(g.byName, g.byResource[resource].Name)
		delete(g.byResource, resource)
	}
}

// find returns a kind of a group; nil if there is none.
func (r *Register) find(group string, in func(*registeredGroup) map[string]*Kind, name string) *Kind {
	g := r.now.Load().groups[group]
	if g == nil {
		return nil
	}
	return in(g)[name]
}

// All returns the kinds, sorted by group and resource. The slice must not be changed.
func (r *Register) All() []*Kind { return r.now.Load().all() }

// Stored returns the kind that is called so in the keys of the store; nil if there is none.
func (r *Register) Stored(name string) *Kind {
	group, resource, _ := strings.Cut(name, "/")
	if group == coreGroup {
		group = ""
	}
	return r.find(group, func(g *registeredGroup) map[string]*Kind { return g.byResource }, resource)
}

// Resource returns the kind that paths with a group, version and resource mean. It returns the kind
// and false if that is not served at the version.
func (r *Register) Resource(group, version, resource string) (*Kind, bool) {
	k := r.find(group, func(g *registeredGroup) map[string]*Kind { return g.byResource }, resource)
	return k, k != nil && k.HasVersion(version)
}

// Named returns the kind that objects with a group, version and kind are of. It returns the kind and
// false if that is not served at the version.
func (r *Register) Named(group, version, name string) (*Kind, bool) {
	k := r.find(group, func(g *registeredGroup) map[string]*Kind { return g.byName }, name)
	return k, k != nil && k.HasVersion(version)
}
