package managedfields_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/controllers/managedfields"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// neverRetry are options with which pending entries are not retried during a test.
var neverRetry = managedfields.Options{MinBackoff: time.Hour, MaxBackoff: time.Hour}

// TestPendingEntriesAreRetried: if the conversion webhook is unavailable when the schema changes, the entries that need a
// conversion are migrated when the webhook is available again, with or without a restart. Until then these entries are not
// changed, other entries are migrated, and writes are not blocked.
func TestPendingEntriesAreRetried(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		s := watchcachetest.OpenStore(t)
		k, h := openConverted(t, s)
		k.MustCreate("v2", "two", ", map: {x: 1}")
		k.MustCreate("v1", "one", ", map: {x: 1}")
		h.Fail(crdtest.RefuseConnection)
		k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
		k.waitOwned("one", mapGranular)
		k.Wait("the webhook to be called again", func() bool { return len(h.CallSizes()) > 2 })
		k.MustApply("one", `"map":{"x":1}`)
		k.wantOwned("two", mapAtomic)
		if got := k.previousGenerations(); got != 1 {
			t.Errorf("%d previous generations are persisted, want 1", got)
		}
		if restarts {
			k.Stop()
			k = openWith(t, s, h)
		}
		h.Fail(nil)
		k.waitOwned("two", mapGranular)
		k.waitFinished()
		k.Stop()
	}
}

// TestConversionTimeout: while writes are blocked, the calls of a webhook that does not respond share one timeout. Objects
// that were not converted before the timeout are pending.
func TestConversionTimeout(t *testing.T) {
	h := &crdtest.Webhooks{}
	k := openOptions(t, watchcachetest.OpenStore(t), h,
		managedfields.Options{ConversionTimeout: 50 * time.Millisecond, MinBackoff: time.Millisecond, MaxBackoff: 20 * time.Millisecond})
	k.defineConverted()
	const n = (managedfields.ParallelBatches + 2) * managedfields.MaxBatchObjects
	for i := range n {
		k.MustCreate("v2", fmt.Sprint("w", i), ", map: {x: 1}")
	}
	h.Fail(crdtest.BlockUntilDone)
	old := k.Widgets("v1")
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.WaitReplaced(old)
	start := time.Now()
	k.MustApply("other", `"size":1`) // returns when the migration has unblocked writes
	if took := time.Since(start); took > crd.ConversionTimeout/2 {
		t.Errorf("a write was blocked for %s, want at most %s", took, crd.ConversionTimeout/2)
	}
	if got := h.CallSizes(); len(got) == 0 || slices.Max(got) != managedfields.MaxBatchObjects {
		t.Errorf("numbers of objects per ConversionReview = %v, want a maximum of %d", got, managedfields.MaxBatchObjects)
	}
	h.Fail(nil)
	k.waitFinished()
	k.wantAllMigrated(n)
}

// TestNextGenerationInterrupts: an update of the CRD ends a migration that waits for a webhook; the entries are migrated
// to the new generation with the webhook of the new generation.
func TestNextGenerationInterrupts(t *testing.T) {
	k, h := openConverted(t, watchcachetest.OpenStore(t))
	k.MustCreate("v2", "two", ", map: {x: 1}")
	h.Fail(func(ctx context.Context, url string) error {
		if strings.HasSuffix(url, "/first") {
			return crdtest.BlockUntilDone(ctx, url)
		}
		return nil
	})
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.Wait("the first webhook to be called", func() bool { return len(h.CallSizes()) == 1 })
	start := time.Now()
	k.MergeDefinition("widgets", `{"spec":{`+crdtest.ConversionBy("second")+`}}`)
	k.waitOwned("two", mapGranular)
	if took := time.Since(start); took > crd.ConversionTimeout/2 {
		t.Errorf("migration to the next generation took %s, want at most %s", took, crd.ConversionTimeout/2)
	}
	k.waitFinished()
}

// TestConcurrentlyWrittenEntriesAreRetained: an entry that was written with the new schema while other entries are pending is not
// migrated, although its field set would be valid in the old schema: the entry that owns a granular map without keys does not
// become the owner of the keys.
func TestConcurrentlyWrittenEntriesAreRetained(t *testing.T) {
	for _, restarts := range []bool{false, true} {
		s, h := watchcachetest.OpenStore(t), &crdtest.Webhooks{}
		k := openOptions(t, s, h, neverRetry)
		k.defineConverted()
		k.MustApplyAs("before", "v1", "one", `"map":{}`)
		k.MustApplyAs("again", "v2", "one", `"map":{},"sizes":3`)
		k.MustApplyAs("waits", "v2", "one", `"map":{}`)
		h.Fail(crdtest.RefuseConnection)
		old := k.Widgets("v1")
		k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
		k.WaitReplaced(old)
		k.ClockOffset.Store(int64(time.Minute))
		if err := k.Merge(k.Widgets("v1"), "one", `{"map":{"x":1}}`); err != nil { // returns when the migration has unblocked writes
			t.Fatal(err)
		}
		h.Fail(nil)
		k.MustApplyAs("since", "v1", "one", `"map":{}`)
		k.MustApplyAs("again", "v2", "one", `"map":{},"sizes":4`)
		if restarts {
			k.Stop()
			k = openWith(t, s, h)
		} else {
			k.MergeDefinition("widgets", `{"spec":{`+crdtest.ConversionBy("second")+`}}`)
		}
		k.waitFinished()
		for manager, want := range map[string]string{"before": mapAtomic, "since": mapAtomic, "again": mapAtomic + `,"f:sizes":{}`, "waits": mapGranular} {
			k.wantOwned("one", `"fieldsV1":{`+want+`},"manager":"`+manager+`"`)
		}
		k.Stop()
	}
}

// TestPendingEntriesKeepTheirGeneration: entries that could not be migrated to two consecutive generations are later migrated
// from the generation to which they conform.
func TestPendingEntriesKeepTheirGeneration(t *testing.T) {
	both := func(list string) string {
		v1 := crdtest.ListAndMap(list, crdtest.AtomicMap)
		return v1 + "," + strings.Replace(strings.Replace(v1, `"v1"`, `"v2"`, 1), `"storage":true`, `"storage":false`, 1)
	}
	h := &crdtest.Webhooks{}
	k := openWith(t, watchcachetest.OpenStore(t), h)
	k.DefineWidgets(both(crdtest.AtomicList), ","+crdtest.ConversionBy("first"))
	k.MustApplyAs("tester", "v2", "one", twoItems)
	for i, list := range []string{crdtest.ListByName, crdtest.ListByID} {
		h.Fail(crdtest.RefuseConnection)
		k.MergeVersions(both(list))
		k.Wait("the webhook to be called", func() bool { return len(h.CallSizes()) > 0 })
		k.Wait("the previous generations to be persisted", func() bool { return k.previousGenerations() == i+1 })
	}
	h.Fail(nil)
	k.waitOwned("one", `"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"id\":\"2\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{}`)
	k.waitFinished()
}

// TestManyPendingRecords: many pending objects are stored in several records, and are read from these records after a restart.
func TestManyPendingRecords(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k, h := openConverted(t, s)
	const n = 2*managedfields.ObjectsPerRecord + 1
	for i := range n {
		k.MustCreate("v2", fmt.Sprint("w", i), ", map: {x: 1}")
	}
	h.Fail(crdtest.RefuseConnection)
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.Wait("all objects to be pending", func() bool { return k.history().Pending == n })
	k.Stop()
	if got := k.history(); got.PendingRecords != 3 || got.Generation != 2 || got.Oldest != 1 {
		t.Errorf("history = %+v, want 3 records of generation 2 that depend on generation 1", got)
	}
	h.Fail(nil)
	again := openWith(t, s, h)
	again.waitFinished()
	again.wantAllMigrated(n)
}

// TestMigratedObjectsAreNotCurrent: an object whose managedFields were migrated is not regarded as written with the new schema:
// defaults of the new schema are still set when the object is read.
func TestMigratedObjectsAreNotCurrent(t *testing.T) {
	k, h := openConverted(t, watchcachetest.OpenStore(t))
	k.MustCreate("v2", "two", ", map: {x: 1}, sizes: 3")
	h.Fail(crdtest.RefuseConnection)
	k.MergeVersions(strings.ReplaceAll(crdtest.TwoMaps(crdtest.Granular), `"size":{"type":"integer"}`, `"size":{"type":"integer"},"late":{"type":"string","default":"here"}`))
	k.Wait("the webhook to be called", func() bool { return len(h.CallSizes()) > 0 })
	k.MustApply("other", `"size":1`) // returns when the migration has unblocked writes
	h.Fail(nil)
	k.waitOwned("two", mapGranular)
	k.waitFinished()
	if doc, err := k.Served("v1", "two"); err != nil || doc.Get("late").Text() != "here" {
		t.Errorf("Served() = %v, %v, want the default of field late", doc, err)
	}
}
