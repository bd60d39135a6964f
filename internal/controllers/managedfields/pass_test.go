package managedfields_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestCurrentWebhookConverts: a migration uses the schemas of previous generations, but the conversion webhook of the current
// generation.
func TestCurrentWebhookConverts(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k, h := openConverted(t, s)
	k.MustCreate("v2", "two", ", map: {x: 1}")
	h.Fail(func(_ context.Context, url string) error {
		if !strings.HasSuffix(url, "/third") {
			return errors.New("webhook was replaced")
		}
		return nil
	})
	k.Stop()
	k.MergeDefinition("widgets", `{"spec":{`+crdtest.ConversionBy("second")+`,"versions":[`+strings.ReplaceAll(crdtest.TwoMaps(crdtest.Granular), `"integer"`, `"number"`)+`]}}`)
	k.MergeDefinition("widgets", `{"spec":{`+crdtest.ConversionBy("third")+`,"versions":[`+crdtest.TwoMaps(crdtest.Granular)+`]}}`)
	again := openWith(t, s, h)
	again.waitOwned("two", mapGranular)
	if got := h.CallSizes(); !slices.Equal(got, []int{1}) {
		t.Errorf("numbers of objects per ConversionReview = %v, want one review of 1", got)
	}
}

// TestRejectionsAreFinal: an object that the webhook rejects keeps its managedFields; the other objects are migrated, and no
// state is persisted for the rejected object.
func TestRejectionsAreFinal(t *testing.T) {
	k, h := openConverted(t, watchcachetest.OpenStore(t))
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		k.MustCreate("v2", name, ", map: {x: 1}")
	}
	h.Reject("b", "c")
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.waitFinished()
	for name, want := range map[string]string{"a": mapGranular, "b": mapAtomic, "c": mapAtomic, "d": mapGranular, "e": mapGranular} {
		k.wantOwned(name, want)
	}
	if got, want := h.CallSizes(), []int{5, 1, 1, 3, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("numbers of objects per ConversionReview = %v, want %v", got, want)
	}
}

// TestConversionIsBatched: a ConversionReview contains many objects, and no object is converted twice or unnecessarily.
func TestConversionIsBatched(t *testing.T) {
	k, h := openConverted(t, watchcachetest.OpenStore(t))
	for i := range 250 {
		k.MustCreate("v2", fmt.Sprintf("w%03d", i), ", map: {x: 1}")
	}
	k.MustCreate("v1", "z", ", map: {x: 1}") // not converted, because its managedFields entry is at the storage version v1
	h.Fail(nil)
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.waitFinished()
	reviews := h.CallSizes()
	if slices.Sort(reviews); !slices.Equal(reviews, []int{50, 100, 100}) {
		t.Errorf("numbers of objects per ConversionReview = %v, want 50, 100 and 100", reviews)
	}
}

// TestUnavailableWebhookIsCalledOnce: a webhook that does not respond for some objects is not called for the other objects while
// writes are blocked.
func TestUnavailableWebhookIsCalledOnce(t *testing.T) {
	h := &crdtest.Webhooks{}
	k := openOptions(t, watchcachetest.OpenStore(t), h, neverRetry)
	k.defineConverted()
	for _, name := range []string{"a", "b", "c"} {
		k.MustCreate("v2", name, ", map: {x: 1}")
	}
	h.Fail(crdtest.RefuseConnection)
	old := k.Widgets("v1")
	k.MergeVersions(crdtest.TwoMaps(crdtest.Granular))
	k.WaitReplaced(old)
	k.MustApply("other", `"size":1`) // returns when the migration has unblocked writes
	if got, want := h.CallSizes(), []int{3, 1}; !slices.Equal(got, want) {
		t.Errorf("numbers of objects per ConversionReview = %v, want %v", got, want)
	}
}

// TestUnchangedSchemaNeedsNoConversion: entries at a version whose schema is unchanged are not converted, so a webhook that
// does not respond blocks no writes.
func TestUnchangedSchemaNeedsNoConversion(t *testing.T) {
	k, p := open(t, watchcachetest.OpenStore(t)), crdtest.NewConversionServer(t)
	k.DefineWidgets(crdtest.TwoSizes, p.Conversion())
	k.MustCreate("v2", "one", ", sizes: 3")
	before, calls := k.ManagedFields("v1", "one"), p.Calls.Load()
	if !strings.Contains(before, `"apiVersion":"example.com/v2"`) {
		t.Fatalf("precondition: managedFields = %s, want an entry at v2", before)
	}
	old := k.Widgets("v1")
	k.MergeVersions(`
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"},"late":{"type":"string"}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"sizes":{"type":"integer","maximum":9}}}}}`)
	k.WaitReplaced(old)
	k.waitFinished()
	if got := p.Calls.Load() - calls; got != 0 {
		t.Errorf("webhook was called %d times, want 0", got)
	}
	k.wantOwned("one", before)
}

// TestChangesWhileNotServed: a CRD may change while none of its versions is served. Only the generation that was
// served last is persisted.
func TestChangesWhileNotServed(t *testing.T) {
	k := open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MustApply("one", twoItems)
	k.MergeVersions(unserveFirst(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap)))
	k.Wait("widgets are not served", func() bool { _, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets"); return !ok })
	for _, list := range []string{crdtest.ListByName, crdtest.AtomicList, crdtest.ListByName} {
		k.MergeVersions(unserveFirst(crdtest.ListAndMap(list, crdtest.Granular)))
	}
	if got := k.previousGenerations(); got != 1 {
		t.Errorf("%d previous generations are persisted, want 1, the last served one", got)
	}
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByID, crdtest.Granular))
	k.Wait("widgets are served", func() bool { _, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets"); return ok })
	k.MustApply("two", `"map":{"x":1}`) // returns when the migration has unblocked writes
	k.wantOwned("one", itemsByID)
	k.waitFinished()
}

// TestChangesWithoutNames: managedFields are migrated even if a previous generation of the CRD had no accepted names.
func TestChangesWithoutNames(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k := open(t, s)
	k.DefineWidgets(crdtest.ListAndMap(crdtest.AtomicList, crdtest.AtomicMap), "")
	k.MustApply("one", twoItems)
	k.Stop()
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByName, crdtest.Granular))
	setNames := func(names string) {
		t.Helper()
		if err := k.Merge(k.Definitions("status"), "widgets.example.com", `{"status":{"acceptedNames":`+names+`}}`); err != nil {
			t.Fatal(err)
		}
	}
	names := k.Parsed("widgets").AcceptedNames
	accepted := names.Document().JSON()
	setNames(`{"plural":"","kind":"","singular":"","listKind":""}`)
	k.MergeVersions(crdtest.ListAndMap(crdtest.ListByID, crdtest.Granular))
	setNames(accepted)
	again := open(t, s)
	again.MustApply("two", `"map":{"x":1}`) // returns when the migration has unblocked writes
	again.wantOwned("one", itemsByID)
}
