package namespace

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// createsConfigMap reports whether a commit creates a ConfigMap.
func createsConfigMap(writes []storage.Write) bool {
	own := writes[len(writes)-1]
	return strings.HasPrefix(own.Key, "core/configmaps/") && own.Expected == 0
}

// TestNothingOutlivesItsNamespace creates objects, with slow commits, while their namespaces are deleted. All created
// objects must be deleted with their namespace, and later creations must be rejected because the namespace is terminating
// or not found.
func TestNothingOutlivesItsNamespace(t *testing.T) {
	k := open(t, func(writes []storage.Write) {
		if createsConfigMap(writes) {
			time.Sleep(rand.N(120 * time.Millisecond)) // simulates a slow disk
		}
	})
	k.run()
	const namespaces, creators = 8, 8
	var group sync.WaitGroup
	var created, rejected atomic.Int64
	for n := range namespaces {
		namespace := fmt.Sprint("n", n)
		ended := make(chan struct{})
		var createdHere atomic.Int64
		for c := range creators {
			group.Go(func() {
				for i := 0; ; i++ {
					select {
					case <-ended:
						return
					default:
					}
					switch err := k.create("configmaps", namespace, named(fmt.Sprintf("c%d.%d", c, i))); {
					case err == nil:
						created.Add(1)
						createdHere.Add(1)
					case isRejected(err):
						rejected.Add(1)
						select { // waits, so that the deletion gets CPU time
						case <-ended:
						case <-time.After(time.Millisecond):
						}
					default:
						t.Errorf("create() = %v, want success, NamespaceTerminating or NotFound", err)
						return
					}
				}
			})
		}
		group.Go(func() {
			defer close(ended)
			if err := k.create("namespaces", "", named(namespace)); err != nil {
				t.Error(err)
				return
			}
			k.wait("objects to be created in "+namespace, func() bool { return createdHere.Load() >= creators })
			if err := k.delete("namespaces", "", namespace); err != nil {
				t.Error(err)
				return
			}
			k.waitDeleted(namespace)
		})
	}
	group.Wait()
	list, err := k.all.Cache.List(t.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: "core/configmaps"}, Freshness: watchcache.Latest})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range list.Objects {
		t.Errorf("%s with resourceVersion %d exists in a deleted namespace, want it deleted", o.Key(), o.Revision())
	}
	if created.Load() == 0 || rejected.Load() == 0 {
		t.Errorf("precondition: %d creations succeeded and %d were rejected, want both positive", created.Load(), rejected.Load())
	}
}

// TestUnrelatedNamespaceUpdates: updates of a namespace, other than its deletion, do not make concurrent creations in the
// namespace fail.
func TestUnrelatedNamespaceUpdates(t *testing.T) {
	k := open(t, func(writes []storage.Write) {
		if createsConfigMap(writes) {
			time.Sleep(time.Millisecond) // simulates a slow disk
		}
	})
	k.mustCreate("namespaces", "", named("busy"))
	ended := make(chan struct{})
	var changer, group sync.WaitGroup
	changer.Go(func() {
		for i := 0; ; i++ {
			select {
			case <-ended:
				return
			case <-time.After(2 * time.Millisecond):
				k.merge("namespaces", "", "busy", fmt.Sprintf(`{"metadata":{"labels":{"n":"%d"}}}`, i))
			}
		}
	})
	const creators, each = 8, 25
	for c := range creators {
		group.Go(func() {
			for i := range each {
				if err := k.create("configmaps", "busy", named(fmt.Sprintf("c%d.%d", c, i))); err != nil {
					t.Errorf("create() = %v, want success", err)
				}
			}
		})
	}
	group.Wait()
	close(ended)
	changer.Wait()
	list, err := k.all.Cache.List(t.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: "core/configmaps"}, Freshness: watchcache.Latest})
	if err != nil || len(list.Objects) != creators*each {
		t.Errorf("number of ConfigMaps = %d, error %v; want %d", len(list.Objects), err, creators*each)
	}
}

// TestRejectedAtCommit: a create or apply that passed admission is rejected if the namespace is deleted before the
// commit.
func TestRejectedAtCommit(t *testing.T) {
	for _, verb := range []string{"create", "apply"} {
		var k *kit
		var once sync.Once
		k = open(t, func(writes []storage.Write) {
			if createsConfigMap(writes) {
				once.Do(func() { k.mustDelete("namespaces", "", "going") })
			}
		})
		k.mustCreate("namespaces", "", named("going"))
		do, r := k.all.Create, k.request("configmaps", "going", "", named("late"))
		if verb == "apply" {
			do, r = k.all.Apply, k.request("configmaps", "going", "late", `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"late"}}`)
		}
		_, err := do(t.Context(), r)
		if !isRejected(err) || !strings.Contains(err.Error(), "unable to create new content in namespace going because it is being terminated") {
			t.Errorf("%s: error = %v, want NamespaceTerminating", verb, err)
		}
		if !k.get("core/configmaps", "going", "late").IsAbsent() {
			t.Errorf("%s: ConfigMap late exists, want its creation rejected", verb)
		}
	}
}
