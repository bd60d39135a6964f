package eventttl

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// kit is a registry with a clock that the test advances.
type kit struct {
	*registrytest.Kit
	clockOffset atomic.Int64 // added to the time of the registry's clock, in nanoseconds
}

func open(t *testing.T, s storage.Store) *kit {
	k := &kit{Kit: registrytest.OpenStore(t, s)}
	k.Registry.Now = func() time.Time { return time.Now().Add(time.Duration(k.clockOffset.Load())) }
	return k
}

// run runs an Expirer with a TTL of one hour until stop is called or the test ends.
func (k *kit) run() (x *Expirer, stop func()) {
	x = &Expirer{Objects: k.Registry, TTL: time.Hour, Log: registrytest.Log, wake: make(chan struct{}, 1)}
	stop = k.Run(x.Run)
	return x, stop
}

// advance advances the clock and wakes the expirer.
func (k *kit) advance(x *Expirer, by time.Duration) {
	k.clockOffset.Add(int64(by))
	select {
	case x.wake <- struct{}{}:
	default:
	}
}

// settle returns when the expirer has handled all events that are due: it receives a signal only after it has handled the
// previous signal, and the channel has a capacity of one.
func (k *kit) settle(x *Expirer) {
	for range cap(x.wake) + 2 {
		x.wake <- struct{}{}
	}
}

func event(name string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"involvedObject":{"namespace":"default"},"message":"\"creationTimestamp\":\"2999-01-01T00:00:00Z\""}`, name)
}

func (k *kit) has(name string) bool { k.Helper(); return k.Has(Kind, "default", name) }

// TestExpiry: an event is deleted one TTL, here an hour, after its last write; objects of other resources are not deleted.
func TestExpiry(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	x, _ := k.run()
	k.Create("events", "default", event("a"))
	k.Create("events", "default", event("written-again"))
	k.Create("configmaps", "default", `{"metadata":{"name":"c"}}`)
	k.advance(x, 30*time.Minute)
	k.Merge("events", "default", "written-again", `{"count":2}`)
	k.Create("events", "default", event("b"))
	k.advance(x, 29*time.Minute)
	k.settle(x)
	if !k.has("a") || !k.has("b") {
		t.Error("an event was deleted before its TTL")
	}
	k.advance(x, 2*time.Minute)
	k.Wait("event a to be deleted", func() bool { return !k.has("a") })
	if !k.has("b") || !k.has("written-again") {
		t.Error("an event was deleted before its TTL")
	}
	k.advance(x, 30*time.Minute)
	k.Wait("event b to be deleted", func() bool { return !k.has("b") })
	k.Wait("event written-again to be deleted", func() bool { return !k.has("written-again") })
	if !k.Has("core/configmaps", "default", "c") {
		t.Error("a ConfigMap was deleted")
	}
}

// TestExpiryAfterRestart: the TTL of an event is measured from its last write, not from the start of the expirer.
func TestExpiryAfterRestart(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	_, stop := k.run()
	k.Create("events", "default", event("old"))
	k.Create("events", "default", event("written-again"))
	k.clockOffset.Add(int64(40 * time.Minute))
	k.Merge("events", "default", "written-again", `{"count":2}`)
	stop()
	k.clockOffset.Add(int64(21 * time.Minute))
	x, _ := k.run()
	k.Wait("event old to be deleted", func() bool { return !k.has("old") })
	if !k.has("written-again") {
		t.Error("an event was deleted before its TTL")
	}
	k.advance(x, 40*time.Minute)
	k.Wait("event written-again to be deleted", func() bool { return !k.has("written-again") })
}

// TestExpiryConflict: an event that is updated while the expirer deletes it remains for another TTL.
func TestExpiryConflict(t *testing.T) {
	var k *kit
	var isWritten atomic.Bool
	k = open(t, registrytest.HookedStore{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		if own := writes[len(writes)-1]; own.Key == Kind+"/default/a" && own.IsDelete() && isWritten.CompareAndSwap(false, true) {
			k.Merge("events", "default", "a", `{"count":2}`)
		}
	}})
	x, _ := k.run()
	k.Create("events", "default", event("a"))
	k.advance(x, 61*time.Minute)
	k.Wait("the expirer to try to delete the event", isWritten.Load)
	k.settle(x)
	if !k.has("a") {
		t.Fatal("the event was deleted although it was just written")
	}
	k.advance(x, 61*time.Minute)
	k.Wait("the event to be deleted after its new TTL", func() bool { return !k.has("a") })
}

// TestDeadlinesAreReleased: no deadline is left after all events have expired or were deleted.
func TestDeadlinesAreReleased(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	x, _ := k.run()
	for i := range 100 {
		k.Create("events", "default", event(fmt.Sprint("e", i)))
	}
	k.Delete("events", "default", "e7", "")
	k.advance(x, 61*time.Minute)
	k.Wait("all events to be deleted", func() bool {
		list, err := k.Registry.Cache.List(context.Background(), watchcache.Query{Selection: watchcache.Selection{Kind: Kind}, Freshness: watchcache.Latest})
		return err == nil && len(list.Objects) == 0
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.next) > 0 {
		t.Errorf("%d deadlines are left, want none", len(x.next))
	}
}
