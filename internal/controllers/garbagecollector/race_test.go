package garbagecollector

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/lib/testwait"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

func replaceUID(text, uid string) string { return strings.ReplaceAll(text, "UID", uid) }

func (k *kit) count(kind string) int {
	k.Helper()
	list, err := k.Registry.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: kind}, Freshness: watchcache.Latest})
	if err != nil {
		k.Fatal(err)
	}
	return len(list.Objects)
}

// TestConcurrentDependents creates dependents while their owner is repeatedly deleted, in the background or foreground, and
// created again with the same name. In the end no dependent of a deleted owner may exist.
func TestConcurrentDependents(t *testing.T) {
	slow := func(writes []storage.Write) {
		if strings.HasPrefix(writes[len(writes)-1].Key, secrets) {
			time.Sleep(rand.N(3 * time.Millisecond)) // simulates a slow disk
		}
	}
	k := openOn(t, registrytest.HookedStore{Store: watchcachetest.OpenStore(t), Before: slow})
	var owner atomic.Pointer[string]
	first := k.Create("configmaps", "default", object("owner"))
	owner.Store(&first)
	ended := make(chan struct{})
	var creators sync.WaitGroup
	var created atomic.Int64
	for c := range 8 {
		creators.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				uid := *owner.Load()
				if uid == "" {
					testwait.Within(time.Second, func() bool { return *owner.Load() != "" })
					continue
				}
				reference := blockingRef("ConfigMap", "owner", uid)
				if _, err := k.TryCreate("secrets", "default", object(fmt.Sprintf("s%d.%d", c, i), reference)); err != nil {
					t.Error(err)
					return
				}
				created.Add(1)
			}
		})
	}
	for i := range 12 {
		before := created.Load()
		k.Wait("dependents to be created", func() bool { return created.Load() > before })
		policy := []registry.Propagation{registry.Background, registry.Foreground}[i%2]
		k.Delete("configmaps", "default", "owner", policy)
		before = created.Load()
		k.Wait("dependents to be created after the deletion", func() bool { return created.Load() > before })
		owner.Store(new("")) // pauses the creators, because a foreground deletion does not end while they add dependents
		k.waitDeleted(configMaps, "default", "owner")
		next := k.Create("configmaps", "default", object("owner"))
		owner.Store(&next)
	}
	close(ended)
	creators.Wait()
	k.Delete("configmaps", "default", "owner", registry.Foreground)
	k.Wait("all dependents to be deleted", func() bool { return k.count(secrets) == 0 })
	k.wantEmptyIndex()
	if created.Load() < 50 {
		t.Errorf("precondition: only %d dependents were created, want at least 50", created.Load())
	}
}

// TestConcurrentOwner: if an object gets an existing owner after the collector decided to delete it and before the deletion
// is committed, the object is not deleted.
func TestConcurrentOwner(t *testing.T) {
	var k *kit
	var solid string
	var once sync.Once
	k = openOn(t, registrytest.HookedStore{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		if own := writes[len(writes)-1]; own.Key == secrets+"/default/child" && own.IsDelete() {
			once.Do(func() {
				k.Merge("secrets", "default", "child", `{"metadata":{"ownerReferences":[`+ownerRef("ConfigMap", "solid", solid)+`]}}`)
			})
		}
	}})
	solid = k.Create("configmaps", "default", object("solid"))
	deleted := k.Create("configmaps", "default", object("deleted"))
	k.Create("secrets", "default", object("child", ownerRef("ConfigMap", "deleted", deleted)))
	k.Delete("configmaps", "default", "deleted", registry.Background)
	k.wantExists(secrets, "default", "child")
	if got := k.owners(secrets, "default", "child"); len(got) != 1 || got[0] != solid {
		t.Errorf("owner UIDs of secret child = %v, want only %s", got, solid)
	}
}

// TestBusyGarbage: an object without existing owners is deleted even if it is updated continuously, because only changes of
// its ownerReferences cause a conflict.
func TestBusyGarbage(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	k.Create("secrets", "default", object("child", ownerRef("ConfigMap", "owner", uid)))
	ended := make(chan struct{})
	var busy sync.WaitGroup
	for range 4 {
		busy.Go(func() {
			for i := 0; ; i++ {
				select {
				case <-ended:
					return
				default:
				}
				r := k.Request("secrets", "default", "child", fmt.Sprintf(`{"metadata":{"annotations":{"n":"%d"}}}`, rand.Int()))
				if _, err := k.Registry.Patch(k.Context(), r, registry.MergePatch); err != nil {
					return // the patch failed because the object was deleted
				}
			}
		})
	}
	k.Delete("configmaps", "default", "owner", registry.Background)
	k.waitDeleted(secrets, "default", "child")
	close(ended)
	busy.Wait()
}

// TestManyDependents: an owner with 10,000 dependents is deleted with each policy, and the index is empty afterwards.
func TestManyDependents(t *testing.T) {
	count := 10_000
	if testing.Short() {
		count = 500
	}
	for _, policy := range []registry.Propagation{registry.Background, registry.Foreground, registry.Orphan} {
		t.Run(string(policy), func(t *testing.T) {
			k := open(t)
			uid := k.Create("configmaps", "default", object("owner"))
			k.createMany(count, uid)
			start := time.Now()
			k.Delete("configmaps", "default", "owner", policy)
			left := 0
			if policy == registry.Orphan {
				left = count
			}
			k.waitDeleted(configMaps, "default", "owner")
			k.Wait("all dependents to be processed", func() bool { return k.count(secrets) == left })
			t.Logf("%s: deletion of the owner took %v", policy, time.Since(start))
			k.wantEmptyIndex()
		})
	}
}

// createMany creates secrets s0, s1, … concurrently that are owned by the ConfigMap "owner" with the UID.
func (k *kit) createMany(count int, uid string) {
	var creators sync.WaitGroup
	for c := range 16 {
		creators.Go(func() {
			for i := c; i < count; i += 16 {
				if _, err := k.TryCreate("secrets", "default", object(fmt.Sprint("s", i), blockingRef("ConfigMap", "owner", uid))); err != nil {
					k.Error(err)
					return
				}
			}
		})
	}
	creators.Wait()
}

// TestConcurrentOrphan: a dependent that is created while the dependents of its owner are orphaned is also orphaned before
// the owner is deleted. Otherwise the dependent's reference would be dangling, and the dependent would be deleted.
func TestConcurrentOrphan(t *testing.T) {
	var isClosed atomic.Bool
	arrived, opened := make(chan struct{}), make(chan struct{})
	k := openOn(t, registrytest.HookedStore{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		if strings.HasSuffix(writes[len(writes)-1].Key, "/child") && isClosed.Swap(false) {
			close(arrived)
			<-opened
		}
	}})
	uid := k.Create("configmaps", "default", object("owner"))
	k.Create("secrets", "default", object("child", ownerRef("ConfigMap", "owner", uid)))
	isClosed.Store(true)
	k.Delete("configmaps", "default", "owner", registry.Orphan)
	<-arrived
	k.Create("secrets", "default", object("late", ownerRef("ConfigMap", "owner", uid)))
	k.Wait("the collector to observe the new dependent", func() bool { return len(k.collector.index.dependents(uid)) == 2 })
	close(opened)
	k.waitDeleted(configMaps, "default", "owner")
	for _, name := range []string{"child", "late"} {
		k.wantExists(secrets, "default", name)
		if got := k.Get(secrets, "default", name).Lookup("metadata", "ownerReferences"); !got.IsAbsent() {
			t.Errorf("%s: ownerReferences = %s, want none", name, got.JSON())
		}
	}
}

// TestAlreadyDeleting: an object that is already being deleted does not get the foreground finalizer when its owner
// is deleted in the foreground.
func TestAlreadyDeleting(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	child := k.Create("secrets", "default", withFinalizer("child", "example.com/hold", blockingRef("ConfigMap", "owner", uid)))
	k.Create("secrets", "default", withFinalizer("grandchild", "example.com/hold", blockingRef("Secret", "child", child)))
	k.Delete("secrets", "default", "child", registry.Background)
	k.Delete("configmaps", "default", "owner", registry.Foreground)
	k.settle()
	k.Merge("secrets", "default", "child", `{"metadata":{"ownerReferences":[`+ownerRef("ConfigMap", "owner", uid)+`]}}`) // the changed reference enqueues the child again
	k.settle()
	if got := k.Get(secrets, "default", "child").Lookup("metadata", "finalizers").JSON(); got != `["example.com/hold"]` {
		t.Errorf(`finalizers of secret child = %s, want ["example.com/hold"], unchanged`, got)
	}
}
