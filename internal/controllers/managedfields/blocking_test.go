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

// delayingStore is a store that can delay one commit: after delaysNext is set, the next commit of a widget closes the channel
// waiting and blocks until the test closes the channel resumed. Later commits do not block.
type delayingStore struct {
	storage.Store
	delaysNext atomic.Bool
	waiting    chan struct{}
	resumed    chan struct{}
}

func newDelayingStore(t *testing.T) *delayingStore {
	return &delayingStore{Store: watchcachetest.OpenStore(t), waiting: make(chan struct{}), resumed: make(chan struct{})}
}

func (g *delayingStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if strings.HasPrefix(writes[0].Key, crdtest.Widgets+"/") && g.delaysNext.Swap(false) {
		close(g.waiting)
		<-g.resumed
	}
	return g.Store.Commit(ctx, writes...)
}

// openDelaying returns a server on a delayingStore, with the widget "one", whose list and map are atomic.
func openDelaying(t *testing.T) (*kit, *delayingStore) {
	t.Helper()
	g := newDelayingStore(t)
	k := open(t, g)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MustApply("one", twoItems)
	return k, g
}

// wantApplyBlocked checks that an apply waits until the store's delayed commit, which migrates managedFields, is done, and
// then uses the migrated managedFields to prune a list item that is no longer applied.
func wantApplyBlocked(k *kit, g *delayingStore) {
	k.Helper()
	done := make(chan error, 1)
	go func() { done <- k.ApplyAs(k.Context(), "tester", "v1", "one", `"list":[{"name":"a","id":"1"}]`) }()
	select {
	case err := <-done:
		k.Errorf("apply before managedFields were migrated returned %v, want it to wait", err)
		close(g.resumed)
		return
	case <-time.After(50 * time.Millisecond):
	}
	close(g.resumed)
	select {
	case err := <-done:
		if err != nil {
			k.Fatal(err)
		}
	case <-time.After(30 * time.Second):
		k.Fatal("apply has not returned 30 seconds after the migration was unblocked, want success")
	}
	if list := k.Get(crdtest.Widgets, "one").Get("list"); list.Len() != 1 {
		k.Errorf("list after the apply = %v, want 1 item: the item that is no longer applied must be pruned", list)
	}
}

// TestWritersAreBlocked: after a change of the schema, no write is accepted before all managedFields are migrated. Otherwise the
// write would be merged with managedFields of the old schema, and its managedFields entry could not be distinguished from an
// entry that still has to be migrated.
func TestWritersAreBlocked(t *testing.T) {
	k, g := openDelaying(t)
	g.delaysNext.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	select {
	case <-g.waiting:
	case <-time.After(30 * time.Second):
		t.Fatal("no managedFields were written within 30 seconds after the schema changed, want a migration")
	}
	wantApplyBlocked(k, g)
}

// TestWritersStayBlockedAfterAnotherUpdate: if the CRD is updated without a change of its schemas while
// managedFields are being migrated, writes remain blocked until the migration is done.
func TestWritersStayBlockedAfterAnotherUpdate(t *testing.T) {
	k, g := openDelaying(t)
	g.delaysNext.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	<-g.waiting
	k.MergeDefinition("widgets", `{"spec":{"names":{"shortNames":["w"]}}}`)
	k.Wait("the names are accepted", func() bool { return len(k.Parsed("widgets").AcceptedNames.ShortNames) == 1 })
	wantApplyBlocked(k, g)
}

// TestWritersAreBlockedAfterRestart: a server that was restarted before the end of a migration finishes the migration before it
// accepts the first write.
func TestWritersAreBlockedAfterRestart(t *testing.T) {
	k, g := openDelaying(t)
	k.Stop()
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	g.delaysNext.Store(true)
	again := open(t, g)
	<-g.waiting
	again.wantBlocked()
	close(g.resumed)
	again.MustApply("one", twoItems)
}

// TestWritersAreBlockedWhenServedAgain: if a kind whose schema changed while it was not served is served again, writes to
// it are blocked until the migration is done, and the migration waits for writes in flight that use the previously
// served kind.
func TestWritersAreBlockedWhenServedAgain(t *testing.T) {
	k, g := openDelaying(t)
	old := k.Widgets("v1").Kind.WriteGate
	if err := old.Enter(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	k.MergeVersions(unserveFirst(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular)))
	isServed := func() bool { _, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets"); return ok }
	k.Wait("widgets are not served", func() bool { return !isServed() })
	g.delaysNext.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	k.Wait("widgets are served", isServed)
	k.wantBlocked()
	select {
	case <-g.waiting:
		t.Error("managedFields are migrated while a write with the old schema is in flight, want the migration to wait")
	default:
	}
	old.Leave()
	<-g.waiting
	k.wantBlocked()
	close(g.resumed)
	k.MustApply("one", twoItems)
}

// TestBlockedWriterTimesOut: a write that is blocked by a migration fails when its request times out, with an error that
// explains the reason.
func TestBlockedWriterTimesOut(t *testing.T) {
	k, g := openDelaying(t)
	g.delaysNext.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	<-g.waiting
	defer close(g.resumed)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	err := k.ApplyAs(ctx, "tester", "v1", "one", "")
	const want = "Timeout: writes to widgets.example.com wait until the managedFields of its objects are migrated to the changed CustomResourceDefinition, " +
		"which takes longer than the request may; retry"
	if !apierrors.IsTimeout(err) || err.Error() != want {
		t.Errorf("apply during a migration = %v, want %s", err, want)
	}
}

// TestWritersStayBlockedOnShutdown: a server that is stopped during a migration does not unblock writes. After a restart, the
// managedFields entries of unblocked writes could not be distinguished from entries of the old schema.
func TestWritersStayBlockedOnShutdown(t *testing.T) {
	k, h := openConverted(t, watchcachetest.OpenStore(t))
	k.MustCreate("v2", "one", ", map: {x: 1}")
	h.Fail(crdtest.BlockUntilDone)
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.Wait("the migration to call the conversion webhook", func() bool { return len(h.CallSizes()) > 0 })
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan error, 1)
	go func() { done <- k.ApplyAs(ctx, "tester", "v1", "two", "") }()
	k.Stop()
	k.wantBlocked()
	cancel()
	if err := <-done; !apierrors.IsTimeout(err) {
		t.Errorf("blocked apply = %v, want a timeout", err)
	}
}
