package custom

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/store"
)

// gated is a store in which, once it is closed, the next commit to widgets waits until it is opened. Later ones do not.
type gated struct {
	store.Store
	isClosed atomic.Bool
	arrived  chan struct{}
	opened   chan struct{}
}

func (g *gated) Commit(ctx context.Context, writes ...store.Write) (store.Revision, error) {
	if strings.HasPrefix(writes[0].Key, "example.com/widgets/") && g.isClosed.Swap(false) {
		close(g.arrived)
		<-g.opened
	}
	return g.Store.Commit(ctx, writes...)
}

// TestWritersWaitForOwners: nobody writes by a new definition before all owners are as it has them. Otherwise the write
// would be by the old ones, and keep them from being brought over.
func TestWritersWaitForOwners(t *testing.T) {
	g := &gated{Store: cachetest.OpenStore(t), arrived: make(chan struct{}), opened: make(chan struct{})}
	k := open(t, g)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	apply := func(fields string) error {
		r := k.request(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"},`+fields+`}`)
		_, err := k.all.Apply(t.Context(), r)
		return err
	}
	if err := apply(`"list":[{"name":"a","id":"1"},{"name":"b","id":"2"}]`); err != nil {
		t.Fatal(err)
	}
	g.isClosed.Store(true)
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byName, "")+`]}}`)
	select {
	case <-g.arrived:
	case <-time.After(30 * time.Second):
		t.Fatal("nobody brings the owners over")
	}
	done := make(chan error, 1)
	go func() { done <- apply(`"list":[{"name":"a","id":"1"}]`) }()
	select {
	case err := <-done:
		t.Errorf("somebody wrote before the owners were there: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(g.opened)
	select {
	case err := <-done:
		if err != nil {
			t.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		t.Fatal("the writer waits for ever")
	}
	if list := k.get("example.com/widgets", "one").Get("list"); list.Len() != 1 {
		t.Errorf("what was given up stays: %v", list)
	}
}

// wantHeld checks that nobody can write widgets.
func (k *kit) wantHeld() {
	k.Helper()
	ctx, cancel := context.WithTimeout(k.Context(), 50*time.Millisecond)
	defer cancel()
	r := k.request(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"}}`)
	if _, err := k.all.Apply(ctx, r); !apierrors.IsTimeout(err) {
		k.Errorf("received %v, expected that nobody can write", err)
	}
}

// TestWritersWaitAfterARestart: a server that has been started again brings owners over before anybody writes, too.
func TestWritersWaitAfterARestart(t *testing.T) {
	g := &gated{Store: cachetest.OpenStore(t), arrived: make(chan struct{}), opened: make(chan struct{})}
	k := open(t, g)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	k.stop()
	k.mergeVersions(fmt.Sprintf(mergingAs, byName, ""))
	g.isClosed.Store(true)
	again := open(t, g)
	<-g.arrived
	again.wantHeld()
	close(g.opened)
	again.mustApply("one", twoItems)
}

// TestWritersWaitForWhatIsServedAgain: so it is with a kind that was not served for a while, and for those who still
// write by what was.
func TestWritersWaitForWhatIsServedAgain(t *testing.T) {
	g := &gated{Store: cachetest.OpenStore(t), arrived: make(chan struct{}), opened: make(chan struct{})}
	k := open(t, g)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	old := k.endpoint("example.com", "v1", "widgets", "").Kind.Uses
	if err := old.Enter(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	k.mergeVersions(strings.Replace(fmt.Sprintf(mergingAs, byName, ""), `"served":true`, `"served":false`, 1))
	isServed := func() bool { _, ok := k.all.Kinds.Resource("example.com", "v1", "widgets"); return ok }
	k.wait("it is not served", func() bool { return !isServed() })
	g.isClosed.Store(true)
	k.mergeVersions(fmt.Sprintf(mergingAs, byName, ""))
	k.wait("it is served", isServed)
	k.wantHeld()
	select {
	case <-g.arrived:
		t.Error("owners are brought over while somebody writes by the old definition")
	default:
	}
	old.Leave()
	<-g.arrived
	k.wantHeld()
	close(g.opened)
	k.mustApply("one", twoItems)
}

// TestWritersAreNotLetGoByTheEnd: a server that is stopped before owners are as the definition has them lets nobody
// write by it, though some still wait: when it is started again, nobody could tell that such a write was by the new
// definition.
func TestWritersAreNotLetGoByTheEnd(t *testing.T) {
	k, h := openHooked(t, cachetest.OpenStore(t))
	k.mustCreate("v2", "one", ", map: {x: 1}")
	h.set(isLate, nil)
	k.mergeVersions(versionsAs(""))
	k.wait("owners are brought over", func() bool { return len(h.reviews()) > 0 })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	r := k.request(k.endpoint("example.com", "v1", "widgets", ""), "two", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"two"}}`)
	go func() {
		_, err := k.all.Apply(ctx, r)
		done <- err
	}()
	k.stop()
	k.wantHeld()
	cancel()
	if err := <-done; !apierrors.IsTimeout(err) {
		t.Errorf("who waited at the end received %v, expected that nobody can write", err)
	}
}
