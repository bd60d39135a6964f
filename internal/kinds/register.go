package kinds

import (
	"cmp"
	"fmt"
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

// registered is the content of a register. It never changes.
type registered struct {
	all        []*Kind             // in the order of groups and resources
	byResource map[[2]string]*Kind // by group and resource
	byName     map[[2]string]*Kind // by group and name
}

// NewRegister returns a register with some kinds.
func NewRegister(kinds ...*Kind) (*Register, error) {
	r := &Register{}
	r.now.Store(&registered{})
	for _, k := range kinds {
		if err := r.Add(k); err != nil {
			return nil, err
		}
	}
	return r, nil
}

// Add adds a kind, or puts it in the place of the one with the same group and resource. The kind must
// not be changed any more.
func (r *Register) Add(k *Kind) error {
	if len(k.Versions) == 0 {
		return fmt.Errorf("kind %s: expected at least one version, received none", k)
	}
	r.changing.Lock()
	defer r.changing.Unlock()
	if other := r.now.Load().byName[[2]string{k.Group, k.Name}]; other != nil && other.Resource != k.Resource {
		return fmt.Errorf("kind %s of group %q: %s has this name already; choose another", k.Name, k.Group, other)
	}
	r.set(append(r.without(k.Group, k.Resource), k))
	return nil
}

// Remove takes out a kind.
func (r *Register) Remove(group, resource string) {
	r.changing.Lock()
	defer r.changing.Unlock()
	r.set(r.without(group, resource))
}

func (r *Register) without(group, resource string) []*Kind {
	return slices.DeleteFunc(slices.Clone(r.now.Load().all), func(k *Kind) bool { return k.Group == group && k.Resource == resource })
}

func (r *Register) set(kinds []*Kind) {
	next := &registered{all: kinds, byResource: map[[2]string]*Kind{}, byName: map[[2]string]*Kind{}}
	slices.SortFunc(kinds, func(a, b *Kind) int {
		return cmp.Or(strings.Compare(a.Group, b.Group), strings.Compare(a.Resource, b.Resource))
	})
	for _, k := range kinds {
		next.byResource[[2]string{k.Group, k.Resource}] = k
		next.byName[[2]string{k.Group, k.Name}] = k
	}
	r.now.Store(next)
}

// All returns the kinds, sorted by group and resource. The slice must not be changed.
func (r *Register) All() []*Kind { return r.now.Load().all }

// Resource returns the kind that paths with a group, version and resource mean. It returns the kind
// and false if that is not served at the version.
func (r *Register) Resource(group, version, resource string) (*Kind, bool) {
	k := r.now.Load().byResource[[2]string{group, resource}]
	return k, k != nil && k.HasVersion(version)
}

// Named returns the kind that objects with a group, version and kind are of. It returns the kind and
// false if that is not served at the version.
func (r *Register) Named(group, version, name string) (*Kind, bool) {
	k := r.now.Load().byName[[2]string{group, name}]
	return k, k != nil && k.HasVersion(version)
}
