package custom

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/cache/cachetest"
)

// TestOwnersFollowWhenTheWebhookIsBack: owners at a version that nobody could convert objects to, when its schema
// changed, follow as soon as somebody can, without a restart or after one. Until then they stay as they were, and the
// others have followed.
func TestOwnersFollowWhenTheWebhookIsBack(t *testing.T) {
	for _, isStarted := range []bool{false, true} {
		s := cachetest.OpenStore(t)
		k, h := openHooked(t, s)
		k.mustCreate("v2", "two", ", map: {x: 1}")
		k.mustCreate("v1", "one", ", map: {x: 1}")
		h.set(isDown, nil)
		k.mergeVersions(versionsAs(""))
		k.wait("owners at v1 follow", func() bool { return strings.Contains(k.owners("one"), eachOfIt) })
		k.wait("it is tried again", func() bool { return len(h.reviews()) > 2 })
		k.mustApply("one", `"map":{"x":1}`) // nobody waits
		if got := k.owners("two"); !strings.Contains(got, wholeMap) || k.formerDefinitions() != 1 {
			t.Errorf("owners at v2 are %s, and %d former definitions are kept; expected %s and one", got, k.formerDefinitions(), wholeMap)
		}
		if isStarted {
			k.stop()
			k = openWith(t, s, h)
		}
		h.set(nil, nil)
		k.wait("owners at v2 follow", func() bool { return strings.Contains(k.owners("two"), eachOfIt) })
		k.wait("nothing more is kept", k.isNothingKept)
		k.stop()
	}
}

// TestWritersAreLetGo: who waits for owners waits no longer than its request may take, and is told what for.
func TestWritersAreLetGo(t *testing.T) {
	g := &gated{Store: cachetest.OpenStore(t), arrived: make(chan struct{}), opened: make(chan struct{})}
	k := open(t, g)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	g.isClosed.Store(true)
	k.mergeVersions(fmt.Sprintf(mergingAs, byName, ""))
	<-g.arrived
	defer close(g.opened)
	r := k.request(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"}}`)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := k.all.Apply(ctx, r)
	const want = "Timeout: the definition of widgets.example.com has changed, and nobody can write until the owners in its objects are as it has them, " +
		"which takes longer than the request may; try again"
	if !apierrors.IsTimeout(err) || err.Error() != want {
		t.Errorf("received %v, expected %s", err, want)
	}
}

// TestNobodyWaitsForWhoIsLate: while writers wait for owners, a webhook that does not answer has so much time for all
// objects together. What it has not converted by then follows later.
func TestNobodyWaitsForWhoIsLate(t *testing.T) {
	h := &hooks{}
	k := openFor(t, cachetest.OpenStore(t), h, times{hold: 50 * time.Millisecond, first: time.Millisecond, last: 20 * time.Millisecond}).hooked()
	const many = (broughtAtOnce + 2) * broughtTogether
	for i := range many {
		k.mustCreate("v2", fmt.Sprint("w", i), ", map: {x: 1}")
	}
	h.set(isLate, nil)
	old := k.endpoint("example.com", "v1", "widgets", "")
	k.mergeVersions(versionsAs(""))
	k.wait("the kind is replaced", func() bool { return k.endpoint("example.com", "v1", "widgets", "") != old })
	begun := time.Now()
	k.mustApply("other", `"size":1`) // which waits
	if took := time.Since(begun); took > conversionTime/2 {
		t.Errorf("somebody has waited for %s", took)
	}
	if got := h.reviews(); len(got) == 0 || slices.Max(got) != broughtTogether {
		t.Errorf("there were reviews of %v objects, expected some of %d", got, broughtTogether)
	}
	h.set(nil, nil)
	k.wait("nothing more is kept", k.isNothingKept)
	k.wantFollowed(many)
}

// TestOwnersFollowTheNextDefinition: a definition that changes again while its owners are brought over is what they are
// brought to, by its webhook: nobody waits for the one before.
func TestOwnersFollowTheNextDefinition(t *testing.T) {
	k, h := openHooked(t, cachetest.OpenStore(t))
	k.mustCreate("v2", "two", ", map: {x: 1}")
	h.set(func(ctx context.Context, url string) error {
		if strings.HasSuffix(url, "/first") {
			return isLate(ctx, url)
		}
		return nil
	}, nil)
	k.mergeVersions(versionsAs(""))
	k.wait("the first webhook is asked", func() bool { return len(h.reviews()) == 1 })
	begun := time.Now()
	k.mergeDefinition("widgets", `{"spec":{`+byHooks("second")+`}}`)
	k.wait("owners at v2 follow", func() bool { return strings.Contains(k.owners("two"), eachOfIt) })
	if took := time.Since(begun); took > conversionTime/2 {
		t.Errorf("the next definition waited for %s", took)
	}
	k.wait("nothing more is kept", k.isNothingKept)
}

// TestWhatWasWrittenSinceIsLeftAlone: what is brought over later is not taken for what it looks like: who owns a map of
// which it has nothing by the new definition does not own what others have put into it.
func TestWhatWasWrittenSinceIsLeftAlone(t *testing.T) {
	for _, isStarted := range []bool{false, true} {
		s, h := cachetest.OpenStore(t), &hooks{}
		k := openFor(t, s, h, times{hold: conversionTime, first: time.Hour, last: time.Hour}).hooked() // nothing is tried again by itself
		apply := func(manager, version, fields string) {
			t.Helper()
			r := k.request(k.endpoint("example.com", version, "widgets", ""), "one", `{"apiVersion":"example.com/`+version+`","kind":"Widget","metadata":{"name":"one"},`+fields+`}`)
			r.Manager = manager
			if _, err := k.all.Apply(t.Context(), r); err != nil {
				t.Fatal(err)
			}
		}
		apply("before", "v1", `"map":{}`)
		apply("again", "v2", `"map":{},"sizes":3`)
		apply("waits", "v2", `"map":{}`)
		h.set(isDown, nil)
		old := k.endpoint("example.com", "v1", "widgets", "")
		k.mergeVersions(versionsAs(""))
		k.wait("the kind is replaced", func() bool { return k.endpoint("example.com", "v1", "widgets", "") != old })
		k.ahead.Store(int64(time.Minute))
		if err := k.merge(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"map":{"x":1}}`); err != nil { // which waits
			t.Fatal(err)
		}
		h.set(nil, nil)
		apply("since", "v1", `"map":{}`)
		apply("again", "v2", `"map":{},"sizes":4`)
		if isStarted {
			k.stop()
			k = openWith(t, s, h)
		} else {
			k.mergeDefinition("widgets", `{"spec":{`+byHooks("second")+`}}`)
		}
		k.wait("nothing more is kept", k.isNothingKept)
		owners := k.owners("one")
		for manager, want := range map[string]string{"before": wholeMap, "since": wholeMap, "again": wholeMap + `,"f:sizes":{}`, "waits": eachOfIt} {
			if !strings.Contains(owners, `"fieldsV1":{`+want+`},"manager":"`+manager+`"`) {
				t.Errorf("expected that %s owns %s: %s", manager, want, owners)
			}
		}
		k.stop()
	}
}

// TestArrearsAreManyRecords: what is noted is read again, however much it is.
func TestArrearsAreManyRecords(t *testing.T) {
	s := cachetest.OpenStore(t)
	k, h := openHooked(t, s)
	const many = 2*arrearsTogether + 1
	for i := range many {
		k.mustCreate("v2", fmt.Sprint("w", i), ", map: {x: 1}")
	}
	h.set(isDown, nil)
	k.mergeVersions(versionsAs(""))
	uid := read(k.definition("widgets")).uid
	noted := func() arrears {
		all, err := k.controller.keptPasts(t.Context(), "")
		if err != nil {
			t.Fatal(err)
		}
		return all[uid].arrears
	}
	k.wait("all are noted", func() bool { return len(noted().objects) == many })
	k.stop()
	if a := noted(); len(a.records) != 3 || a.generation != 2 || a.oldest() != 1 {
		t.Errorf("%d records are of generation %d, and need %d; expected 3, 2 and 1", len(a.records), a.generation, a.oldest())
	}
	h.set(nil, nil)
	again := openWith(t, s, h)
	again.wait("nothing more is kept", again.isNothingKept)
	again.wantFollowed(many)
}

// TestShownAsTheDefinitionHasItWhenOwnersFollowLate: that the owners of an object follow late does not make it one that
// was written by the new definition.
func TestShownAsTheDefinitionHasItWhenOwnersFollowLate(t *testing.T) {
	k, h := openHooked(t, cachetest.OpenStore(t))
	k.mustCreate("v2", "two", ", map: {x: 1}, sizes: 3")
	h.set(isDown, nil)
	k.mergeVersions(strings.ReplaceAll(versionsAs(""), `"size":{"type":"integer"}`, `"size":{"type":"integer"},"late":{"type":"string","default":"here"}`))
	k.wait("it is tried", func() bool { return len(h.reviews()) > 0 })
	k.mustApply("other", `"size":1`) // which waits
	h.set(nil, nil)
	k.wait("owners follow", func() bool { return strings.Contains(k.owners("two"), eachOfIt) })
	k.wait("nothing more is kept", k.isNothingKept)
	if doc, err := k.shown("v1", "two"); err != nil || doc.Get("late").Text() != "here" {
		t.Errorf("it is shown as %v, %v", doc, err)
	}
}

// TestWhoIsDownIsNotAskedAgain: who can't be reached about some objects is not asked about the others while writers wait.
func TestWhoIsDownIsNotAskedAgain(t *testing.T) {
	h := &hooks{}
	k := openFor(t, cachetest.OpenStore(t), h, times{hold: conversionTime, first: time.Hour, last: time.Hour}).hooked()
	for _, name := range []string{"a", "b", "c"} {
		k.mustCreate("v2", name, ", map: {x: 1}")
	}
	h.set(isDown, nil)
	old := k.endpoint("example.com", "v1", "widgets", "")
	k.mergeVersions(versionsAs(""))
	k.wait("the kind is replaced", func() bool { return k.endpoint("example.com", "v1", "widgets", "") != old })
	k.mustApply("other", `"size":1`) // which waits
	if got, want := h.reviews(), []int{3, 1}; !slices.Equal(got, want) {
		t.Errorf("there were reviews of %v objects, expected %v", got, want)
	}
}

// wantFollowed fails unless the owners of so many objects have followed.
func (k *kit) wantFollowed(many int) {
	k.Helper()
	for i := range many {
		if got := k.owners(fmt.Sprint("w", i)); !strings.Contains(got, eachOfIt) {
			k.Fatalf("owners of w%d are %s, expected %s", i, got, eachOfIt)
		}
	}
}
