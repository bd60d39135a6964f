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

// Register is the set of kinds that the server serves. It is safe for concurrent use. Reads never block, because a change
// replaces the contents (copy-on-write).
type Register struct {
	mu       sync.Mutex
	contents atomic.Pointer[registerContents]
}

// registerContents holds the immutable contents of a register. Two successive contents share the groups that the change
// between them did not modify.
type registerContents struct {
	groups map[string]*registeredGroup
	all    func() []*Kind // all returns the kinds, sorted by group and resource. The slice is computed on the first call.
}

// registeredGroup indexes the kinds of an API group by resource and by kind.
type registeredGroup struct{ byResource, byName map[string]*Kind }

// NewRegister returns a register that contains the given kinds. It returns an error as Add does.
func NewRegister(kinds ...*Kind) (*Register, error) {
	r := &Register{}
	r.contents.Store(newRegisterContents(map[string]*registeredGroup{}))
	return r, r.Add(kinds...)
}

func newRegisterContents(groups map[string]*registeredGroup) *registerContents {
	return &registerContents{groups, sync.OnceValue(func() (all []*Kind) {
		for _, g := range groups {
			all = slices.AppendSeq(all, maps.Values(g.byResource))
		}
		slices.SortFunc(all, func(a, b *Kind) int {
			return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
		})
		return all
	})}
}

// Add adds kinds. An added kind replaces the registered kind with the same group and resource. If a kind has no versions, or if
// another resource of the group has the same kind name, Add returns an error and adds no kind. The caller must not modify the
// kinds afterwards.
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

// Remove removes the kind of a group and resource. It does nothing if there is no such kind.
func (r *Register) Remove(group, resource string) {
	_ = r.change(func(c *registerChange) error { c.remove(group, resource); return nil }) // remove cannot fail
}

func (r *Register) change(do func(*registerChange) error) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	c := registerChange{groups: maps.Clone(r.contents.Load().groups), copied: map[string]bool{}}
	if err := do(&c); err != nil {
		return err
	}
	r.contents.Store(newRegisterContents(c.groups))
	return nil
}

// registerChange is a change of a register in progress. It copies each group before it modifies it; copied contains the names
// of the copied groups.
type registerChange struct {
	groups map[string]*registeredGroup
	copied map[string]bool
}

func (c *registerChange) group(name string) *registeredGroup {
	if c.copied[name] {
		return c.groups[name]
	}
	g := &registeredGroup{map[string]*Kind{}, map[string]*Kind{}}
	if current := c.groups[name]; current != nil {
		g = &registeredGroup{maps.Clone(current.byResource), maps.Clone(current.byName)}
	}
	c.groups[name], c.copied[name] = g, true
	return g
}

func (c *registerChange) add(k *Kind) error {
	if len(k.Versions) == 0 {
		return fmt.Errorf("kind %s: Versions must not be empty", k)
	}
	g := c.group(k.Group)
	if other := g.byName[k.Name]; other != nil && other.Resource != k.Resource {
		return fmt.Errorf("kind %s of group %q: the kind is already used by %s; choose another", k.Name, k.Group, other)
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

// find returns the kind with the given name in one index of the group, byResource or byName, which indexOf selects; nil if
// there is none.
func (r *Register) find(group string, indexOf func(*registeredGroup) map[string]*Kind, name string) *Kind {
	g := r.contents.Load().groups[group]
	if g == nil {
		return nil
	}
	return indexOf(g)[name]
}

// All returns the kinds, sorted by group and resource. The caller must not modify the slice.
func (r *Register) All() []*Kind { return r.contents.Load().all() }

// ByStoreName returns the kind with the given store name, such as apps/deployments; nil if there is none.
func (r *Register) ByStoreName(name string) *Kind {
	group, resource, _ := strings.Cut(name, "/")
	if group == coreGroup {
		group = ""
	}
	return r.find(group, func(g *registeredGroup) map[string]*Kind { return g.byResource }, resource)
}

// Resource returns the kind of the given group, version and resource; nil and false if there is none. If the kind exists but
// does not serve the version, Resource returns the kind and false.
func (r *Register) Resource(group, version, resource string) (*Kind, bool) {
	k := r.find(group, func(g *registeredGroup) map[string]*Kind { return g.byResource }, resource)
	return k, k != nil && k.HasVersion(version)
}

// Kind returns the kind of the given group, version and kind name; nil and false if there is none. If the kind exists but does
// not serve the version, Kind returns the kind and false.
func (r *Register) Kind(group, version, name string) (*Kind, bool) {
	k := r.find(group, func(g *registeredGroup) map[string]*Kind { return g.byName }, name)
	return k, k != nil && k.HasVersion(version)
}
