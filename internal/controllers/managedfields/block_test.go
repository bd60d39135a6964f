package managedfields_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// gatedStore is a store in which, after isClosed is set, the next commit of widgets waits until opened is closed; later
// commits do not wait.
type gatedStore struct {
	storage.Store
	isClosed atomic.Bool
	arrived  chan struct{}
	opened   chan struct{}
}

func newGatedStore(t *testing.T) *gatedStore {
	return &gatedStore{Store: watchcachetest.OpenStore(t), arrived: make(chan struct{}), opened: make(chan struct{})}
}

func (g *gatedStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if strings.HasPrefix(writes[0].Key, crdtest.Widgets+"/") && g.isClosed.Swap(false) {
		close(g.arrived)
		<-g.opened
	}
	return g.Store.Commit(ctx, writes...)
}

// openGated returns a server over a gated store, with a widget whose list and map are atomic.
func openGated(t *testing.T) (*kit, *gatedStore) {
	t.Helper()
	g := newGatedStore(t)
	k := open(t, g)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MustApply("one", twoItems)
	return k, g
}

// wantApplyBlocked checks that an apply waits until the gate is opened, and then prunes by the migrated managedFields.
func wantApplyBlocked(k *kit, g *gatedStore) {
	k.Helper()
	done := make(chan error, 1)
	go func() { done <- k.ApplyAs(k.Context(), "tester", "v1", "one", `"list":[{"name":"a","id":"1"}]`) }()
	select {
	case err := <-done:
		k.Errorf("a write succeeded before managedFields were migrated: %v", err)
		close(g.opened)
		return
	case <-time.After(50 * time.Millisecond):
	}
	close(g.opened)
	select {
	case err := <-done:
		if err != nil {
			k.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		k.Fatal("the write is still blocked after the migration")
	}
	if list := k.Get(crdtest.Widgets, "one").Get("list"); list.Len() != 1 {
		k.Errorf("an item that is no longer applied was not pruned: %v", list)
	}
}

// TestWritersAreBlocked: there is no write by the new schema before all managedFields are migrated. The write would be
// merged with managedFields of the old schema, and could not be told from an unmigrated one afterwards.
func TestWritersAreBlocked(t *testing.T) {
	k, g := openGated(t)
	g.isClosed.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	select {
	case <-g.arrived:
	case <-time.After(30 * time.Second):
		t.Fatal("managedFields are not migrated")
	}
	wantApplyBlocked(k, g)
}

// TestWritersStayBlockedAfterAnotherUpdate: an update of the definition that changes no schema, while managedFields are
// migrated, does not unblock writers.
func TestWritersStayBlockedAfterAnotherUpdate(t *testing.T) {
	k, g := openGated(t)
	g.isClosed.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	<-g.arrived
	k.MergeDefinition("widgets", `{"spec":{"names":{"shortNames":["w"]}}}`)
	k.Wait("the names are accepted", func() bool { return len(k.Parsed("widgets").AcceptedNames.ShortNames) == 1 })
	wantApplyBlocked(k, g)
}

// TestWritersAreBlockedAfterRestart: a restarted server finishes the migration before the first write, too.
func TestWritersAreBlockedAfterRestart(t *testing.T) {
	k, g := openGated(t)
	k.Stop()
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	g.isClosed.Store(true)
	again := open(t, g)
	<-g.arrived
	again.wantBlocked()
	close(g.opened)
	again.MustApply("one", twoItems)
}

// TestWritersAreBlockedWhenServedAgain: so are writers of a kind that was not served for a while; and the migration
// waits for writes that are in flight by the kind that was served before.
func TestWritersAreBlockedWhenServedAgain(t *testing.T) {
	k, g := openGated(t)
	old := k.Widgets("v1").Kind.WriteGate
	if err := old.Enter(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	k.MergeVersions(unserved(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular)))
	isServed := func() bool { _, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets"); return ok }
	k.Wait("widgets are not served", func() bool { return !isServed() })
	g.isClosed.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	k.Wait("widgets are served", isServed)
	k.wantBlocked()
	select {
	case <-g.arrived:
		t.Error("managedFields are migrated while a write by the old schema is in flight")
	default:
	}
	old.Leave()
	<-g.arrived
	k.wantBlocked()
	close(g.opened)
	k.MustApply("one", twoItems)
}

// TestBlockedWriterTimesOut: a blocked write waits no longer than its request may take, and names the reason.
func TestBlockedWriterTimesOut(t *testing.T) {
	k, g := openGated(t)
	g.isClosed.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	<-g.arrived
	defer close(g.opened)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := k.ApplyAs(ctx, "tester", "v1", "one", "")
	const want = "Timeout: writes to widgets.example.com wait until the managedFields of its objects are migrated to the changed CustomResourceDefinition, " +
		"which takes longer than the request may; retry"
	if !apierrors.IsTimeout(err) || err.Error() != want {
		t.Errorf("received %v, expected %s", err, want)
	}
}

// TestWritersStayBlockedOnShutdown: a server that is stopped during a migration does not unblock writers. After the
// restart their writes could not be told from those by the old schema.
func TestWritersStayBlockedOnShutdown(t *testing.T) {
	k, h := openConverted(t, watchcachetest.OpenStore(t))
	k.MustCreate("v2", "one", ", map: {x: 1}")
	h.Fail(crdtest.Hangs)
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.Wait("managedFields are migrated", func() bool { return len(h.Sizes()) > 0 })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.ApplyAs(ctx, "tester", "v1", "two", "") }()
	k.Stop()
	k.wantBlocked()
	cancel()
	if err := <-done; !apierrors.IsTimeout(err) {
		t.Errorf("the write that was blocked received %v, expected a timeout", err)
	}
}
