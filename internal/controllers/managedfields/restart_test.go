package managedfields_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestMigrationAfterRestart: a server that stops before a migration has finished completes the migration after the restart, even
// over several generations of the CRD.
func TestMigrationAfterRestart(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k := open(t, s)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MustApply("one", twoItems)
	k.Stop()
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	k.MergeDefinition("widgets", `{"spec":{"names":{"shortNames":["w"]}}}`)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByID, crdtest.Granular))
	if got := k.previousGenerations(); got != 2 {
		t.Errorf("%d previous generations are persisted, want 2, those with replaced schemas", got)
	}
	k.wantOwned("one", itemsAtomic)

	again := open(t, s)
	again.MustApply("two", `"map":{"x":1}`) // returns when the migration has unblocked writes
	again.wantOwned("one", itemsByID)
	again.waitFinished()
}

// failingStore is a store in which, after isFailing is set, the first commit of a widget succeeds and all later commits of
// widgets fail.
type failingStore struct {
	storage.Store
	isFailing atomic.Bool
	commits   atomic.Int64
}

func (s *failingStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if s.isFailing.Load() && strings.HasPrefix(writes[0].Key, crdtest.Widgets+"/") && s.commits.Add(1) > 1 {
		return 0, errors.New("disk failure")
	}
	return s.Store.Commit(ctx, writes...)
}

// TestCrashDuringPass: a server that stops after it has migrated some objects migrates the other objects after the restart.
func TestCrashDuringPass(t *testing.T) {
	s := &failingStore{Store: watchcachetest.OpenStore(t)}
	k := open(t, s)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	for i := range 5 {
		k.MustApply(fmt.Sprint("w", i), twoItems)
	}
	s.isFailing.Store(true)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	k.Wait("commits of all objects", func() bool { return s.commits.Load() >= 5 })
	k.MergeDefinition("widgets", `{"spec":{"names":{"shortNames":["w"]}}}`)
	k.Wait("the names to be accepted", func() bool { return len(k.Parsed("widgets").AcceptedNames.ShortNames) == 1 })
	k.Stop()
	s.isFailing.Store(false)
	if got := k.previousGenerations(); got != 1 {
		t.Errorf("%d previous generations are persisted, want 1", got)
	}
	again := open(t, s)
	for i := range 5 {
		again.waitOwned(fmt.Sprint("w", i), itemsByName)
	}
	again.waitFinished()
}

// recordFailingStore is a store that, while isFailing is set, rejects commits that delete a previous generation.
type recordFailingStore struct {
	storage.Store
	isFailing atomic.Bool
	failures  atomic.Int64
}

func (s *recordFailingStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if s.isFailing.Load() && writes[0].Value == nil && strings.HasPrefix(writes[0].Key, managedfields.GenerationRecords+"/") {
		s.failures.Add(1)
		return 0, errors.New("disk failure")
	}
	return s.Store.Commit(ctx, writes...)
}

// TestWritersAreBlockedUntilThePassIsRecorded: if the outcome of a pass cannot be persisted, writes remain blocked. Otherwise
// a pass that is repeated after a crash would treat an entry of the new schema as an entry of the old schema.
func TestWritersAreBlockedUntilThePassIsRecorded(t *testing.T) {
	s := &recordFailingStore{Store: watchcachetest.OpenStore(t)}
	k := open(t, s)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MustApply("one", twoItems)
	s.isFailing.Store(true)
	old := k.Widgets("v1")
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	k.WaitReplaced(old)
	k.Wait("recording fails repeatedly", func() bool { return s.failures.Load() > 1 })
	k.wantOwned("one", itemsByName)
	k.wantBlocked()
	s.isFailing.Store(false)
	k.MustApply("one", twoItems)
	k.wantOwned("one", itemsByName)
	k.waitFinished()
}

// TestRecordsAreDeleted: previous generations are deleted with the CRD, and when all entries are migrated; a dry run, and
// an update that changes no schema, persist no previous generation.
func TestRecordsAreDeleted(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k := open(t, s)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	k.waitFinished()
	k.Stop()
	dry := k.Request(k.Definitions(""), "widgets.example.com", `{"spec":{"versions":[`+crdtest.ListAndMap(crdtest.ListByID, crdtest.Granular)+`]}}`)
	dry.DryRun = true
	if _, err := k.Objects.Patch(t.Context(), dry, registry.MergePatch); err != nil {
		t.Fatal(err)
	}
	k.MergeDefinition("widgets", `{"metadata":{"labels":{"a":"b"}},"spec":{"names":{"shortNames":["w"]}}}`)
	if got := k.previousGenerations(); got != 0 {
		t.Errorf("%d previous generations are persisted, want 0", got)
	}
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByID, crdtest.Granular))
	live, err := k.Objects.Cache.Get(t.Context(), watchcache.Key{Kind: crd.Definitions, Name: "widgets.example.com"}, watchcache.Latest)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.Objects.Cache.Commit(t.Context(), storage.Write{Key: live.Key(), Expected: live.Revision()}); err != nil {
		t.Fatal(err)
	}
	again := open(t, s)
	again.waitFinished()
}

// TestGenerationsAreOrderedByNumber: generation 10 follows generation 9, although the key of generation 10 sorts before the key
// of generation 9.
func TestGenerationsAreOrderedByNumber(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.Stop()
	var want []int64
	for i := range 12 {
		k.MergeVersions(crdtest.ListAndMap([]string{crdtest.AtomicList, crdtest.ListByName}[(i+1)%2], crdtest.Granular))
		want = append(want, int64(i+1))
	}
	if got := k.history().Previous; !slices.Equal(got, want) {
		t.Errorf("previous generations = %v, want %v", got, want)
	}
}

// TestHistoryIsBeforeTheGeneration: the history of a generation excludes the generations that followed it.
func TestHistoryIsBeforeTheGeneration(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.Stop()
	for _, list := range []string{crdtest.ListByName, crdtest.ListByID, crdtest.ListByName} {
		k.MergeVersions(crdtest.ListAndMap(list, crdtest.Granular))
	}
	d := k.Parsed("widgets")
	for generation := range d.Generation {
		d.Generation = generation + 1
		h, err := managedfields.ReadHistory(t.Context(), k.Objects.Cache, d)
		if err != nil {
			t.Fatal(err)
		}
		if len(h.Previous) != int(generation) || h.IsMigrated != (generation == 0) {
			t.Errorf("history of generation %d = %+v, want %d previous generations and IsMigrated = %t", generation+1, h, generation, generation == 0)
		}
	}
}

// rewriteStored replaces the text old in a stored value with updated while no server runs.
func rewriteStored(t *testing.T, s storage.Store, key watchcache.Key, old, updated string) {
	t.Helper()
	live, err := s.Get(t.Context(), key.String())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(live.Value), old, updated, 1)
	if text == string(live.Value) {
		t.Fatalf("precondition: stored value = %s, want it to contain %s", text, old)
	}
	if _, err := s.Commit(t.Context(), storage.Write{Key: live.Key, Expected: live.Revision, Value: []byte(text)}); err != nil {
		t.Fatal(err)
	}
}

// TestCrashBetweenGenerations: after a crash in the middle of a migration, and another change of the schema, some
// entries conform to the first of three generations and some to the second.
func TestCrashBetweenGenerations(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k := open(t, s)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MustApply("one", twoItems)
	k.MustApply("two", twoItems)
	k.Stop()
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByID, crdtest.Granular))
	rewriteStored(t, s, watchcache.Key{Kind: crdtest.Widgets, Name: "two"}, itemsAtomic, itemsByName)
	again := open(t, s)
	again.MustApply("other", `"map":{"x":1}`) // returns when the migration has unblocked writes
	for _, name := range []string{"one", "two"} {
		again.wantOwned(name, itemsByID)
	}
}

// TestUnreadableDefinitionKeepsItsHistory: the state of a CRD that cannot be parsed is retained.
func TestUnreadableDefinitionKeepsItsHistory(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k := open(t, s)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MustApply("one", twoItems)
	k.Stop()
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	definition := watchcache.Key{Kind: crd.Definitions, Name: "widgets.example.com"}
	rewriteStored(t, s, definition, `"spec":{`, `"spec":{"scope":"Cluster",`)
	bad := open(t, s)
	bad.Stop()
	if _, ok := bad.Objects.Kinds.Resource("example.com", "v1", "widgets"); ok || bad.previousGenerations() != 1 {
		t.Fatalf("unreadable definition: served: %t, %d previous generations; want it not served, with 1", ok, bad.previousGenerations())
	}
	rewriteStored(t, s, definition, `"spec":{"scope":"Cluster",`, `"spec":{`)
	again := open(t, s)
	again.MustApply("two", `"map":{"x":1}`) // returns when the migration has unblocked writes
	again.wantOwned("one", itemsByName)
}
