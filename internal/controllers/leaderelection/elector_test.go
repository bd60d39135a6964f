package leaderelection

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/registry/registrytest"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// server is one of several on a store.
type server struct {
	*registrytest.Kit
	*Elector
	// isCut has the server lose the store.
	isCut   atomic.Bool
	leading atomic.Bool
	stop    func()
}

var errCut = errors.New("the network is gone")

// start starts a server. No two may lead at once.
func start(t *testing.T, s storage.Store, name string, leaders *atomic.Int64) *server {
	v := &server{}
	v.Kit = registrytest.Over(t, cut{s, &v.isCut})
	v.Elector = &Elector{
		Objects: v.All, Namespace: "kube-system", Name: "controllers", Identity: name,
		User: registrytest.User, Manager: name, Log: registrytest.Log,
		Duration: time.Second, Deadline: 600 * time.Millisecond, Retry: 50 * time.Millisecond,
	}
	v.stop = v.Run(func(ctx context.Context) {
		v.Elector.Run(ctx, func(ctx context.Context) {
			if leaders.Add(1) > 1 {
				t.Error("two lead")
			}
			v.leading.Store(true)
			<-ctx.Done()
			time.Sleep(10 * time.Millisecond) // simulates controllers that take a moment to stop
			v.leading.Store(false)
			leaders.Add(-1)
		})
	})
	return v
}

// Run is that of the kit.
func (v *server) Run(run func(context.Context)) func() { return v.Kit.Run(run) }

// cut is a store that can be lost.
type cut struct {
	storage.Store
	isCut *atomic.Bool
}

func (c cut) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if c.isCut.Load() {
		return 0, errCut
	}
	return c.Store.Commit(ctx, writes...)
}

func (v *server) lease() document.Value {
	v.Helper()
	return v.Get(kind, "kube-system", "controllers").Get("spec")
}

func (v *server) acquired() time.Time { v.Helper(); return v.leaseTime("acquireTime") }

func (v *server) renewed() time.Time { v.Helper(); return v.leaseTime("renewTime") }

func (v *server) leaseTime(field string) time.Time {
	v.Helper()
	at, err := time.Parse(time.RFC3339, v.lease().Get(field).Text())
	if err != nil {
		v.Fatal(err)
	}
	return at
}

// TestElection: one leads; when it stops, the other does at once; when it loses the store, after the lease.
func TestElection(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	var leaders atomic.Int64
	a := start(t, s, "a", &leaders)
	a.Wait("a leads", a.leading.Load)
	b := start(t, s, "b", &leaders)
	acquired := a.lease().Get("acquireTime").Text()
	a.Wait("a has renewed its lease for longer than the lease's duration", func() bool { return a.renewed().Sub(a.acquired()) > 1300*time.Millisecond })
	if !a.leading.Load() || b.leading.Load() {
		t.Fatal("b leads, though a goes on")
	}
	lease := b.lease()
	if lease.Get("holderIdentity").Text() != "a" || lease.Get("acquireTime").Text() != acquired ||
		lease.Get("renewTime").Text() <= acquired || lease.Get("leaseTransitions").JSON() != "0" || lease.Get("leaseDurationSeconds").JSON() != "1" {
		t.Errorf("received %s", lease.JSON())
	}

	begun := time.Now()
	a.stop()
	b.Wait("b leads", b.leading.Load)
	if took := time.Since(begun); took > 900*time.Millisecond {
		t.Logf("b leads after %v", took) // a lease that was given back need not be waited for, but machines are slow
	}
	if lease := b.lease(); lease.Get("leaseTransitions").JSON() != "1" {
		t.Errorf("received %s, want one transition", lease.JSON())
	}

	c := start(t, s, "c", &leaders)
	b.isCut.Store(true)
	b.Wait("b no longer leads", func() bool { return !b.leading.Load() })
	c.Wait("c leads", c.leading.Load)
	b.isCut.Store(false)
	renewed := c.renewed()
	c.Wait("c renews its lease while b retries", func() bool { return c.renewed().Sub(renewed) > 4*b.Retry })
	if b.leading.Load() || !c.leading.Load() {
		t.Error("b leads again, though c does")
	}
}

// TestElectionOfMany: servers come and go, and never do two lead at once.
func TestElectionOfMany(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	var leaders, terms atomic.Int64
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 3 {
				v := start(t, s, fmt.Sprintf("s%d.%d", i, j), &leaders)
				v.Wait("it leads", v.leading.Load)
				terms.Add(1)
				v.stop()
			}
		})
	}
	all.Wait()
	if terms.Load() != 12 {
		t.Errorf("received %d terms, want 12", terms.Load())
	}
}

// TestReleaseOfAnothers: who stops does not give back what another one holds.
func TestReleaseOfAnothers(t *testing.T) {
	k := registrytest.Open(t)
	e := &Elector{Objects: k.All, Namespace: "kube-system", Name: "controllers", Identity: "a", User: registrytest.User, Manager: "a", Log: registrytest.Log}
	e.setDefaults()
	for range 2 { // to make it, and to hold it
		if !e.tryHold(t.Context()) {
			t.Fatal("a can't hold the lease")
		}
	}
	b := &Elector{Objects: k.All, Namespace: "kube-system", Name: "controllers", Identity: "b", User: registrytest.User, Manager: "b", Log: registrytest.Log}
	b.setDefaults()
	if b.tryHold(t.Context()) {
		t.Error("b holds what a does")
	}
	b.release(t.Context())
	if holder := k.Get(kind, "kube-system", "controllers").Lookup("spec", "holderIdentity").Text(); holder != "a" {
		t.Errorf("received %q, want a", holder)
	}
	e.release(t.Context())
	if !b.tryHold(t.Context()) {
		t.Error("b can't hold what was given back")
	}
}

// TestLeaseWithoutManagedFields: who has written the lease does not matter, so that it can be held also if nobody can read that.
func TestLeaseWithoutManagedFields(t *testing.T) {
	k := registrytest.Open(t)
	e := &Elector{Objects: k.All, Namespace: "kube-system", Name: "controllers", Identity: "a", User: registrytest.User, Manager: "a", Log: registrytest.Log}
	e.setDefaults()
	if !e.tryHold(t.Context()) {
		t.Fatal("a can't hold the lease")
	}
	lease, err := k.All.Cache.Get(t.Context(), watchcache.Key{Kind: kind, Namespace: "kube-system", Name: "controllers"}, watchcache.Latest)
	if err != nil {
		t.Fatal(err)
	}
	spans := lease.Spans()
	spoiled := spans.Before + `"managedFields":"unreadable",` + spans.Between + spans.After
	if _, _, err := k.All.Cache.Commit(t.Context(), storage.Write{Key: lease.Key(), Value: []byte(spoiled), Expected: lease.Revision()}); err != nil {
		t.Fatal(err)
	}
	if !e.tryHold(t.Context()) {
		t.Error("a can't hold a lease whose managedFields nobody can read")
	}
}
