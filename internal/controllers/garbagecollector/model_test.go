package garbagecollector

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/cadastre/cadastre/internal/registry"
)

// TestModel deletes random objects in a random graph of ownerReferences, and checks that the collector leaves the same objects
// and references as a model of garbage collection.
func TestModel(t *testing.T) {
	for seed := range uint64(20) {
		t.Run(fmt.Sprint(seed), func(t *testing.T) {
			random := rand.New(rand.NewPCG(seed, 1))
			k := open(t)
			m := model{}
			uids := map[string]string{}
			for i := range 30 {
				name := fmt.Sprint("n", i)
				uids[name] = k.Create("configmaps", "default", object(name))
				m[name] = map[string]bool{}
			}
			names := slices.Sorted(maps.Keys(m))
			for _, name := range names {
				var references []string
				for range random.IntN(3) {
					owner := names[random.IntN(len(names))]
					if !m[name][owner] {
						references = append(references, blockingRef("ConfigMap", owner, uids[owner]))
					}
					m[name][owner] = true
				}
				if len(references) > 0 {
					k.Merge("configmaps", "default", name, object(name, references...))
				}
			}
			for range 3 {
				name := names[random.IntN(len(names))]
				if _, there := m[name]; !there {
					continue
				}
				policy := []registry.Propagation{registry.Background, registry.Orphan}[random.IntN(2)]
				k.Delete("configmaps", "default", name, policy)
				m.delete(name, policy)
				k.Wait("the objects and ownerReferences to be those of the model", func() bool { return m.holds(k, names) })
			}
			k.settle()
			if !m.holds(k, names) {
				t.Error("objects or ownerReferences changed while the workqueue was processed further, want those of the model")
			}
		})
	}
}

// model maps the name of each existing object to the set of names of its owners.
type model map[string]map[string]bool

// delete deletes an object and removes the references to it. Unless the policy is Orphan, it also deletes the dependents
// that are left without an owner.
func (m model) delete(name string, policy registry.Propagation) {
	delete(m, name)
	for dependent, owners := range m {
		if !owners[name] {
			continue
		}
		delete(owners, name)
		if len(owners) == 0 && policy != registry.Orphan {
			m.delete(dependent, registry.Background)
		}
	}
}

// holds reports whether the server matches the model: of the named objects, exactly the objects of the model exist, with the
// owners of the model.
func (m model) holds(k *kit, names []string) bool {
	for _, name := range names {
		owners, want := m[name]
		if k.Has(configMaps, "default", name) != want {
			return false
		}
		if !want {
			continue
		}
		got := map[string]bool{}
		for _, r := range k.Get(configMaps, "default", name).Lookup("metadata", "ownerReferences").Items() {
			got[r.Get("name").Text()] = true
		}
		if !maps.Equal(got, owners) {
			return false
		}
	}
	return true
}
