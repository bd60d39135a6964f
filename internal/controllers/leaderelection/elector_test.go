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

// server is one of several candidates that share a store.
type server struct {
	*registrytest.Kit
	*Elector
	// isDisconnected reports whether the server's commits to the store fail.
	isDisconnected atomic.Bool
	leading        atomic.Bool
	stop           func()
}

var errDisconnected = errors.New("connection reset")

// start starts a candidate with a lease duration of one second. It counts the current leaders, and fails the test if there
// is more than one.
func start(t *testing.T, s storage.Store, name string, leaders *atomic.Int64) *server {
	v := &server{}
	v.Kit = registrytest.OpenStore(t, disconnectedStore{s, &v.isDisconnected})
	v.Elector = &Elector{
		Objects: v.Registry, Namespace: "kube-system", Name: "controllers", Identity: name,
		User: registrytest.User, Manager: name, Log: registrytest.Log,
		Duration: time.Second, Deadline: 600 * time.Millisecond, Retry: 50 * time.Millisecond,
	}
	v.stop = v.Run(func(ctx context.Context) {
		v.Elector.Run(ctx, func(ctx context.Context) {
			if leaders.Add(1) > 1 {
				t.Error("two candidates lead at the same time")
			}
			v.leading.Store(true)
			<-ctx.Done()
			time.Sleep(10 * time.Millisecond) // simulates controllers that need time to stop
			v.leading.Store(false)
			leaders.Add(-1)
		})
	})
	return v
}

// Run resolves the ambiguity between Kit.Run and Elector.Run.
func (s *server) Run(run func(context.Context)) func() { return s.Kit.Run(run) }

// disconnectedStore is a store whose commits fail while isDisconnected is set.
type disconnectedStore struct {
	storage.Store
	isDisconnected *atomic.Bool
}

func (d disconnectedStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if d.isDisconnected.Load() {
		return 0, errDisconnected
	}
	return d.Store.Commit(ctx, writes...)
}

func (s *server) lease() document.Value {
	s.Helper()
	return s.Get(kind, "kube-system", "controllers").Get("spec")
}

func (s *server) acquired() time.Time { s.Helper(); return s.leaseTime("acquireTime") }

func (s *server) renewed() time.Time { s.Helper(); return s.leaseTime("renewTime") }

func (s *server) leaseTime(field string) time.Time {
	s.Helper()
	at, err := time.Parse(time.RFC3339, s.lease().Get(field).Text())
	if err != nil {
		s.Fatal(err)
	}
	return at
}

// TestElection: one candidate leads. If it stops, another candidate takes over at once; if it cannot write the Lease,
// another candidate takes over when the Lease has expired.
func TestElection(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	var leaders atomic.Int64
	a := start(t, s, "a", &leaders)
	a.Wait("candidate a to lead", a.leading.Load)
	b := start(t, s, "b", &leaders)
	acquired := a.lease().Get("acquireTime").Text()
	a.Wait("candidate a to renew its lease for longer than the lease's duration", func() bool { return a.renewed().Sub(a.acquired()) > 1300*time.Millisecond })
	if !a.leading.Load() || b.leading.Load() {
		t.Fatalf("a leads: %t, b leads: %t; want only a, which renews its lease", a.leading.Load(), b.leading.Load())
	}
	lease := b.lease()
	if lease.Get("holderIdentity").Text() != "a" || lease.Get("acquireTime").Text() != acquired ||
		lease.Get("renewTime").Text() <= acquired || lease.Get("leaseTransitions").JSON() != "0" || lease.Get("leaseDurationSeconds").JSON() != "1" {
		t.Errorf("lease = %s, want holder a, renewed, with 0 transitions and a duration of 1 s", lease.JSON())
	}

	begun := time.Now()
	a.stop()
	b.Wait("candidate b to lead", b.leading.Load)
	if took := time.Since(begun); took > 900*time.Millisecond {
		t.Logf("candidate b leads %v after a released the lease, expected less than 900ms", took) // not an error: the machine may be slow
	}
	if lease := b.lease(); lease.Get("leaseTransitions").JSON() != "1" {
		t.Errorf("lease = %s, want one transition", lease.JSON())
	}

	c := start(t, s, "c", &leaders)
	b.isDisconnected.Store(true)
	b.Wait("candidate b to stop leading", func() bool { return !b.leading.Load() })
	c.Wait("candidate c to lead", c.leading.Load)
	b.isDisconnected.Store(false)
	renewed := c.renewed()
	c.Wait("candidate c to renew its lease while b retries", func() bool { return c.renewed().Sub(renewed) > 4*b.Retry })
	if b.leading.Load() || !c.leading.Load() {
		t.Errorf("b leads: %t, c leads: %t; want only c, which holds the lease", b.leading.Load(), c.leading.Load())
	}
}

// TestElectionOfMany starts and stops many candidates, and checks that each of them leads and no two lead at the same time.
func TestElectionOfMany(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	var leaders, terms atomic.Int64
	var all sync.WaitGroup
	for i := range 4 {
		all.Go(func() {
			for j := range 3 {
				v := start(t, s, fmt.Sprintf("s%d.%d", i, j), &leaders)
				v.Wait("the candidate to lead", v.leading.Load)
				terms.Add(1)
				v.stop()
			}
		})
	}
	all.Wait()
	if terms.Load() != 12 {
		t.Errorf("number of candidates that became leader = %d, want 12", terms.Load())
	}
}

// TestReleaseOnlyOwnLease: a candidate that stops does not release a Lease that another candidate holds.
func TestReleaseOnlyOwnLease(t *testing.T) {
	k := registrytest.Open(t)
	e := &Elector{Objects: k.Registry, Namespace: "kube-system", Name: "controllers", Identity: "a", User: registrytest.User, Manager: "a", Log: registrytest.Log}
	e.setDefaults()
	for range 2 { // the first call creates the Lease, the second call renews it
		if !e.tryAcquireOrRenew(t.Context()) {
			t.Fatal("tryAcquireOrRenew() of a = false, want true")
		}
	}
	b := &Elector{Objects: k.Registry, Namespace: "kube-system", Name: "controllers", Identity: "b", User: registrytest.User, Manager: "b", Log: registrytest.Log}
	b.setDefaults()
	if b.tryAcquireOrRenew(t.Context()) {
		t.Error("tryAcquireOrRenew() of b = true while a holds the lease, want false")
	}
	b.release(t.Context())
	if holder := k.Get(kind, "kube-system", "controllers").Lookup("spec", "holderIdentity").Text(); holder != "a" {
		t.Errorf("holderIdentity = %q, want a", holder)
	}
	e.release(t.Context())
	if !b.tryAcquireOrRenew(t.Context()) {
		t.Error("tryAcquireOrRenew() of b = false after the release, want true")
	}
}

// TestLeaseWithInvalidManagedFields: a Lease whose managedFields cannot be parsed can be renewed.
func TestLeaseWithInvalidManagedFields(t *testing.T) {
	k := registrytest.Open(t)
	e := &Elector{Objects: k.Registry, Namespace: "kube-system", Name: "controllers", Identity: "a", User: registrytest.User, Manager: "a", Log: registrytest.Log}
	e.setDefaults()
	if !e.tryAcquireOrRenew(t.Context()) {
		t.Fatal("tryAcquireOrRenew() = false, want true")
	}
	lease, err := k.Registry.Cache.Get(t.Context(), watchcache.Key{Kind: kind, Namespace: "kube-system", Name: "controllers"}, watchcache.Latest)
	if err != nil {
		t.Fatal(err)
	}
	spans := lease.Spans()
	unreadable := spans.Before + `"managedFields":"unreadable",` + spans.Between + spans.After
	if _, _, err := k.Registry.Cache.Commit(t.Context(), storage.Write{Key: lease.Key(), Value: []byte(unreadable), Expected: lease.Revision()}); err != nil {
		t.Fatal(err)
	}
	if !e.tryAcquireOrRenew(t.Context()) {
		t.Error("tryAcquireOrRenew() = false for a lease with unreadable managedFields, want true")
	}
}
