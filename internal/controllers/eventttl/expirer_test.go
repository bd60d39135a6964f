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

// kit is objects with a clock that a test moves.
type kit struct {
	*registrytest.Kit
	ahead atomic.Int64 // nanoseconds
}

func open(t *testing.T, s storage.Store) *kit {
	k := &kit{Kit: registrytest.Over(t, s)}
	k.All.Now = func() time.Time { return time.Now().Add(time.Duration(k.ahead.Load())) }
	return k
}

// run has events live for an hour.
func (k *kit) run() (x *Expirer, stop func()) {
	x = &Expirer{Objects: k.All, Life: time.Hour, Log: registrytest.Log, earlier: make(chan struct{}, 1)}
	stop = k.Run(x.Run)
	return x, stop
}

// move moves the clock, and has the expirer look at it.
func (k *kit) move(x *Expirer, by time.Duration) {
	k.ahead.Add(int64(by))
	select {
	case x.earlier <- struct{}{}:
	default:
	}
}

// settle returns when the expirer has handled all events that are due: a signal is received only after the previous one
// was handled, and the channel holds one.
func (k *kit) settle(x *Expirer) {
	for range cap(x.earlier) + 2 {
		x.earlier <- struct{}{}
	}
}

func event(name string) string {
	return fmt.Sprintf(`{"metadata":{"name":%q},"involvedObject":{"namespace":"default"},"message":"\"creationTimestamp\":\"2999-01-01T00:00:00Z\""}`, name)
}

func (k *kit) has(name string) bool { k.Helper(); return k.Has(Kind, "default", name) }

// TestExpiry: an event goes an hour after it was last written, and nothing else does.
func TestExpiry(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	x, _ := k.run()
	k.Create("events", "default", event("a"))
	k.Create("events", "default", event("written-again"))
	k.Create("configmaps", "default", `{"metadata":{"name":"c"}}`)
	k.move(x, 30*time.Minute)
	k.Merge("events", "default", "written-again", `{"count":2}`)
	k.Create("events", "default", event("b"))
	k.move(x, 29*time.Minute)
	k.settle(x)
	if !k.has("a") || !k.has("b") {
		t.Error("an event is gone before its time")
	}
	k.move(x, 2*time.Minute)
	k.Wait("a goes", func() bool { return !k.has("a") })
	if !k.has("b") || !k.has("written-again") {
		t.Error("an event is gone before its time")
	}
	k.move(x, 30*time.Minute)
	k.Wait("b goes", func() bool { return !k.has("b") })
	k.Wait("what was written again goes", func() bool { return !k.has("written-again") })
	if !k.Has("core/configmaps", "default", "c") {
		t.Error("something else is gone")
	}
}

// TestExpiryAfterRestart: what was written before the start goes at its time, not an hour after it.
func TestExpiryAfterRestart(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	_, stop := k.run()
	k.Create("events", "default", event("old"))
	k.Create("events", "default", event("written-again"))
	k.ahead.Add(int64(40 * time.Minute))
	k.Merge("events", "default", "written-again", `{"count":2}`)
	stop()
	k.ahead.Add(int64(21 * time.Minute))
	x, _ := k.run()
	k.Wait("the old one goes", func() bool { return !k.has("old") })
	if !k.has("written-again") {
		t.Error("an event is gone before its time")
	}
	k.move(x, 40*time.Minute)
	k.Wait("the other goes", func() bool { return !k.has("written-again") })
}

// TestExpiryOfWhatIsWritten: an event that is written in the moment in which it is to go stays.
func TestExpiryOfWhatIsWritten(t *testing.T) {
	var k *kit
	var isWritten atomic.Bool
	k = open(t, registrytest.Hooked{Store: watchcachetest.OpenStore(t), Before: func(writes []storage.Write) {
		if own := writes[len(writes)-1]; own.Key == Kind+"/default/a" && own.IsDelete() && isWritten.CompareAndSwap(false, true) {
			k.Merge("events", "default", "a", `{"count":2}`)
		}
	}})
	x, _ := k.run()
	k.Create("events", "default", event("a"))
	k.move(x, 61*time.Minute)
	k.Wait("the expirer tries to delete it", isWritten.Load)
	k.settle(x)
	if !k.has("a") {
		t.Fatal("the event is gone, though it was just written")
	}
	k.move(x, 61*time.Minute)
	k.Wait("it goes later", func() bool { return !k.has("a") })
}

// TestExpiryForgets: of events that are gone nothing is kept after their time.
func TestExpiryForgets(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	x, _ := k.run()
	for i := range 100 {
		k.Create("events", "default", event(fmt.Sprint("e", i)))
	}
	k.Delete("events", "default", "e7", "")
	k.move(x, 61*time.Minute)
	k.Wait("all go", func() bool {
		list, err := k.All.Cache.List(context.Background(), watchcache.Query{Selection: watchcache.Selection{Kind: Kind}, Freshness: watchcache.Latest})
		return err == nil && len(list.Objects) == 0
	})
	x.mu.Lock()
	defer x.mu.Unlock()
	if len(x.next) > 0 {
		t.Errorf("%d deadlines are left", len(x.next))
	}
}
