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
	list, err := k.All.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: kind}, Freshness: watchcache.Latest})
	if err != nil {
		k.Fatal(err)
	}
	return len(list.Objects)
}

// TestDependantsThatComeLate: many get an owner while it goes, in every way, and is made anew under the same name. In
// the end none is left that names one that is gone.
func TestDependantsThatComeLate(t *testing.T) {
	slow := func(writes []storage.Write) {
		if strings.HasPrefix(writes[len(writes)-1].Key, secrets) {
			time.Sleep(rand.N(3 * time.Millisecond)) // simulates a slow disk
		}
	}
	k := over(t, registrytest.Hooked{Store: watchcachetest.OpenStore(t), Before: slow})
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
				reference := blocking("ConfigMap", "owner", uid)
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
		k.Wait("dependants are created", func() bool { return created.Load() > before })
		policy := []registry.Propagation{registry.Background, registry.Foreground}[i%2]
		k.Delete("configmaps", "default", "owner", policy)
		before = created.Load()
		k.Wait("dependants are created after the deletion", func() bool { return created.Load() > before })
		owner.Store(new("")) // one that gets new dependants for ever waits for ever
		k.waitGone(configMaps, "default", "owner")
		next := k.Create("configmaps", "default", object("owner"))
		owner.Store(&next)
	}
	close(ended)
	creators.Wait()
	k.Delete("configmaps", "default", "owner", registry.Foreground)
	k.Wait("all dependants go", func() bool { return k.count(secrets) == 0 })
	k.wantEmpty()
	if created.Load() < 50 {
		t.Errorf("only %d were created: nothing was tried", created.Load())
	}
}

// TestOwnerThatComesLate: an object that gets an owner between its judgement and its deletion stays.
func TestOwnerThatComesLate(t *testing.T) {
	var k *kit
	var solid string
	var once sync.Once
	k = over(t, registrytest.Hooked{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		if own := writes[len(writes)-1]; own.Key == secrets+"/default/child" && own.IsDelete() {
			once.Do(func() {
				k.Merge("secrets", "default", "child", `{"metadata":{"ownerReferences":[`+ref("ConfigMap", "solid", solid)+`]}}`)
			})
		}
	}})
	solid = k.Create("configmaps", "default", object("solid"))
	goes := k.Create("configmaps", "default", object("goes"))
	k.Create("secrets", "default", object("child", ref("ConfigMap", "goes", goes)))
	k.Delete("configmaps", "default", "goes", registry.Background)
	k.wantThere(secrets, "default", "child")
	if got := k.owners(secrets, "default", "child"); len(got) != 1 || got[0] != solid {
		t.Errorf("received %v, want %s", got, solid)
	}
}

// TestBusyGarbage: what changes all the time, save for its owners, is deleted all the same.
func TestBusyGarbage(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	k.Create("secrets", "default", object("child", ref("ConfigMap", "owner", uid)))
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
				if _, err := k.All.Patch(k.Context(), r, registry.MergePatch); err != nil {
					return // it is gone
				}
			}
		})
	}
	k.Delete("configmaps", "default", "owner", registry.Background)
	k.waitGone(secrets, "default", "child")
	close(ended)
	busy.Wait()
}

// TestManyDependants: an owner goes with 10,000 dependants, in each way, and what is known of them goes as well.
func TestManyDependants(t *testing.T) {
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
			k.waitGone(configMaps, "default", "owner")
			k.Wait("all is done", func() bool { return k.count(secrets) == left })
			t.Logf("%s: %v", policy, time.Since(start))
			k.wantEmpty()
		})
	}
}

func (k *kit) createMany(count int, uid string) {
	var creators sync.WaitGroup
	for c := range 16 {
		creators.Go(func() {
			for i := c; i < count; i += 16 {
				if _, err := k.TryCreate("secrets", "default", object(fmt.Sprint("s", i), blocking("ConfigMap", "owner", uid))); err != nil {
					k.Error(err)
					return
				}
			}
		})
	}
	creators.Wait()
}

// TestOrphanThatComesLate: who gets an owner while what depends on that is orphaned is orphaned, too, before the owner goes. Otherwise it would
// name one that is gone, and go itself.
func TestOrphanThatComesLate(t *testing.T) {
	var isClosed atomic.Bool
	arrived, opened := make(chan struct{}), make(chan struct{})
	k := over(t, registrytest.Hooked{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		if strings.HasSuffix(writes[len(writes)-1].Key, "/child") && isClosed.Swap(false) {
			close(arrived)
			<-opened
		}
	}})
	uid := k.Create("configmaps", "default", object("owner"))
	k.Create("secrets", "default", object("child", ref("ConfigMap", "owner", uid)))
	isClosed.Store(true)
	k.Delete("configmaps", "default", "owner", registry.Orphan)
	<-arrived
	k.Create("secrets", "default", object("late", ref("ConfigMap", "owner", uid)))
	k.Wait("the collector knows of it", func() bool { return len(k.collector.index.dependants(uid)) == 2 })
	close(opened)
	k.waitGone(configMaps, "default", "owner")
	for _, name := range []string{"child", "late"} {
		k.wantThere(secrets, "default", name)
		if got := k.Get(secrets, "default", name).Lookup("metadata", "ownerReferences"); !got.IsAbsent() {
			t.Errorf("%s: received %s, want no references", name, got.JSON())
		}
	}
}

// TestWhatIsDeletedAlready: an object that is being deleted, and waits for somebody else, is not deleted in another way because an owner
// of it is: it does not begin to wait for its own dependants.
func TestWhatIsDeletedAlready(t *testing.T) {
	k := open(t)
	uid := k.Create("configmaps", "default", object("owner"))
	child := k.Create("secrets", "default", held("child", "example.com/hold", blocking("ConfigMap", "owner", uid)))
	k.Create("secrets", "default", held("grandchild", "example.com/hold", blocking("Secret", "child", child)))
	k.Delete("secrets", "default", "child", registry.Background)
	k.Delete("configmaps", "default", "owner", registry.Foreground)
	k.settle()
	k.Merge("secrets", "default", "child", `{"metadata":{"ownerReferences":[`+ref("ConfigMap", "owner", uid)+`]}}`) // it is looked at again
	k.settle()
	if got := k.Get(secrets, "default", "child").Lookup("metadata", "finalizers").JSON(); got != `["example.com/hold"]` {
		t.Errorf("received %s, want only what it had", got)
	}
}
