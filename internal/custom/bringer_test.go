package custom

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/store"
)

// TestOwnersFollowByTheConversionOfToday: of what a definition was before only the schemas count; where its webhook was
// is nobody's business.
func TestOwnersFollowByTheConversionOfToday(t *testing.T) {
	s := cachetest.OpenStore(t)
	k, h := openHooked(t, s)
	k.mustCreate("v2", "two", ", map: {x: 1}")
	h.set(func(_ context.Context, url string) error {
		if !strings.HasSuffix(url, "/third") {
			return errors.New("moved away")
		}
		return nil
	}, nil)
	k.stop()
	k.mergeDefinition("widgets", `{"spec":{`+byHooks("second")+`,"versions":[`+strings.ReplaceAll(versionsAs(""), `"integer"`, `"number"`)+`]}}`)
	k.mergeDefinition("widgets", `{"spec":{`+byHooks("third")+`,"versions":[`+versionsAs("")+`]}}`)
	again := openWith(t, s, h)
	again.wait("owners at v2 follow", func() bool { return strings.Contains(again.owners("two"), eachOfIt) })
	if got := h.reviews(); !slices.Equal(got, []int{1}) {
		t.Errorf("there were reviews of %v objects, expected one of 1", got)
	}
}

// TestRefusalsAreFinal: an object that a webhook refuses to convert keeps its owners as they are; the others follow,
// and nothing is kept for what will never be.
func TestRefusalsAreFinal(t *testing.T) {
	k, h := openHooked(t, cachetest.OpenStore(t))
	for _, name := range []string{"a", "b", "c", "d", "e"} {
		k.mustCreate("v2", name, ", map: {x: 1}")
	}
	h.set(nil, func(name string) bool { return name == "b" || name == "c" })
	k.mergeVersions(versionsAs(""))
	k.wait("nothing is kept", k.isNothingKept)
	for name, want := range map[string]string{"a": eachOfIt, "b": wholeMap, "c": wholeMap, "d": eachOfIt, "e": eachOfIt} {
		if got := k.owners(name); !strings.Contains(got, want) {
			t.Errorf("owners of %s are %s, expected %s", name, got, want)
		}
	}
	if got, want := h.reviews(), []int{5, 1, 1, 3, 1, 2}; !slices.Equal(got, want) {
		t.Errorf("there were reviews of %v objects, expected %v", got, want)
	}
}

// TestOwnersAreConvertedTogether: a webhook is asked for many objects at once, and for none twice.
func TestOwnersAreConvertedTogether(t *testing.T) {
	k, h := openHooked(t, cachetest.OpenStore(t))
	for i := range 250 {
		k.mustCreate("v2", fmt.Sprintf("w%03d", i), ", map: {x: 1}")
	}
	k.mustCreate("v1", "z", ", map: {x: 1}") // which is stored so
	h.set(nil, nil)
	k.mergeVersions(versionsAs(""))
	k.wait("nothing more is kept", k.isNothingKept)
	reviews := h.reviews()
	if slices.Sort(reviews); !slices.Equal(reviews, []int{50, 100, 100}) {
		t.Errorf("there were reviews of %v objects, expected 50, 100 and 100", reviews)
	}
}

// TestOwnersFollowWhatIsNotServed: a definition may change while none of its versions is served.
func TestOwnersFollowWhatIsNotServed(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	unserved := func(versions string) string { return strings.Replace(versions, `"served":true`, `"served":false`, 1) }
	k.mergeVersions(unserved(fmt.Sprintf(mergingAs, asAtom, mapAsAtom)))
	k.wait("it is not served", func() bool { _, ok := k.all.Kinds.Resource("example.com", "v1", "widgets"); return !ok })
	for _, list := range []string{byName, asAtom, byName} {
		k.mergeVersions(unserved(fmt.Sprintf(mergingAs, list, "")))
	}
	if got := k.formerDefinitions(); got != 1 {
		t.Errorf("%d former definitions are kept, expected the one that was served", got)
	}
	k.mergeVersions(fmt.Sprintf(mergingAs, byID, ""))
	k.wait("it is served", func() bool { _, ok := k.all.Kinds.Resource("example.com", "v1", "widgets"); return ok })
	k.mustApply("two", `"map":{"x":1}`) // who writes waits for the owners
	if got := k.owners("one"); !strings.Contains(got, twoByID) {
		t.Errorf("owners are %s, expected %s", got, twoByID)
	}
	k.wait("nothing more is kept", k.isNothingKept)
}

// TestOwnersFollowFromWhereTheyAre: entries that could not be brought over to one definition, and then not to the next
// one, follow from the one as which they are.
func TestOwnersFollowFromWhereTheyAre(t *testing.T) {
	both := func(list string) string {
		v1 := fmt.Sprintf(mergingAs, list, mapAsAtom)
		return v1 + "," + strings.Replace(strings.Replace(v1, `"v1"`, `"v2"`, 1), `"storage":true`, `"storage":false`, 1)
	}
	h := &hooks{}
	k := openWith(t, cachetest.OpenStore(t), h)
	k.defineWidgets(both(asAtom), ","+byHooks("first"))
	r := k.request(k.endpoint("example.com", "v2", "widgets", ""), "one", `{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one"},`+twoItems+`}`)
	if _, err := k.all.Apply(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	h.set(isDown, nil)
	for i, list := range []string{byName, byID} {
		h.set(isDown, nil)
		k.mergeVersions(both(list))
		k.wait("it is tried", func() bool { return len(h.reviews()) > 0 })
		k.wait("what it was is kept", func() bool { return k.formerDefinitions() == i+1 })
	}
	h.set(nil, nil)
	const want = `"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"id\":\"2\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{}`
	k.wait("owners follow", func() bool { return strings.Contains(k.owners("one"), want) })
	k.wait("nothing more is kept", k.isNothingKept)
}

// TestOwnersFollowWithoutAName: a former definition may have no names: objects are those of the kind that is there.
func TestOwnersFollowWithoutAName(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	k.stop()
	k.mergeVersions(fmt.Sprintf(mergingAs, byName, ""))
	names := func(patch string) {
		if err := k.merge(k.endpoint(definitionsGroup, "v1", definitionsName, "status"), "widgets.example.com", `{"status":{"acceptedNames":`+patch+`}}`); err != nil {
			t.Fatal(err)
		}
	}
	accepted := read(k.definition("widgets")).accepted.document().JSON()
	names(`{"plural":"","kind":"","singular":"","listKind":""}`)
	k.mergeVersions(fmt.Sprintf(mergingAs, byID, ""))
	names(accepted)
	again := open(t, s)
	again.mustApply("two", `"map":{"x":1}`) // who writes waits for the owners
	if got := again.owners("one"); !strings.Contains(got, twoByID) {
		t.Errorf("owners are %s, expected %s", got, twoByID)
	}
}

// TestOwnersFollowOverAVersionThatWasAway: a definition may have been without the version that objects are stored at.
func TestOwnersFollowOverAVersionThatWasAway(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	k.defineWidgets(versionsAs(mapAsAtom), "")
	k.mustApply("one", `"map":{"x":1}`)
	k.mustCreate("v2", "two", ", map: {x: 1}")
	k.stop()
	v1, v2, _ := strings.Cut(versionsAs(mapAsAtom), `,
  {"name":"v2"`)
	v2 = strings.Replace(`{"name":"v2"`+v2, `"storage":false`, `"storage":true`, 1)
	k.mergeVersions(strings.Replace(v1, `"storage":true`, `"storage":false`, 1) + "," + v2)
	if err := k.merge(k.endpoint(definitionsGroup, "v1", definitionsName, "status"), "widgets.example.com", `{"status":{"storedVersions":["v2"]}}`); err != nil {
		t.Fatal(err)
	}
	k.mergeVersions(v2)
	k.mergeVersions(versionsAs(""))
	again := open(t, s)
	again.mustApply("other", `"map":{"x":1}`) // who writes waits for the owners
	for _, name := range []string{"one", "two"} {
		if got := again.owners(name); !strings.Contains(got, eachOfIt) {
			t.Errorf("owners of %s are %s, expected %s", name, got, eachOfIt)
		}
	}
	again.wait("nothing more is kept", again.isNothingKept)
}

// TestOwnersOfAStatusFollow: what is in a status is owned field by field, too.
func TestOwnersOfAStatusFollow(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(versionsAs(mapAsAtom), "")
	k.mustApply("one", `"map":{"x":1}`)
	r := k.request(k.endpoint("example.com", "v1", "widgets", "status"), "one", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one"},"status":{"map":{"x":1}}}`)
	if _, err := k.all.Apply(t.Context(), r); err != nil {
		t.Fatal(err)
	}
	k.mergeVersions(versionsAs(""))
	k.wait("the owners of the status follow", func() bool { return strings.Contains(k.owners("one"), `"f:status":{`+eachOfIt+`}`) })
}

// rewrite replaces a part of something in a store that nobody follows.
func rewrite(t *testing.T, s store.Store, key cache.Key, old, now string) {
	t.Helper()
	live, err := s.Get(t.Context(), key.String())
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Replace(string(live.Value), old, now, 1)
	if text == string(live.Value) {
		t.Fatalf("there is no %s in %s", old, text)
	}
	if _, err := s.Commit(t.Context(), store.Write{Key: live.Key, Expected: live.Revision, Value: []byte(text)}); err != nil {
		t.Fatal(err)
	}
}

// TestOwnersFollowFromHalfway: when a server has ended while owners were brought over to one definition, and there is
// another one now, some are as the first of the three definitions has them, and some as the second.
func TestOwnersFollowFromHalfway(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	k.mustApply("two", twoItems)
	k.stop()
	k.mergeVersions(fmt.Sprintf(mergingAs, byName, ""))
	k.mergeVersions(fmt.Sprintf(mergingAs, byID, ""))
	rewrite(t, s, cache.Key{Kind: "example.com/widgets", Name: "two"}, ownedWhole, twoByName)
	again := open(t, s)
	again.mustApply("other", `"map":{"x":1}`) // who writes waits for the owners
	for _, name := range []string{"one", "two"} {
		if got := again.owners(name); !strings.Contains(got, twoByID) {
			t.Errorf("owners of %s are %s, expected %s", name, got, twoByID)
		}
	}
}

// TestWhatCannotBeReadIsNotGone: what is kept of a definition that nobody can read now stays until somebody can.
func TestWhatCannotBeReadIsNotGone(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	k.stop()
	k.mergeVersions(fmt.Sprintf(mergingAs, byName, ""))
	definition := cache.Key{Kind: Definitions, Name: "widgets.example.com"}
	rewrite(t, s, definition, `"spec":{`, `"spec":{"scope":"Cluster",`)
	bad := open(t, s)
	bad.stop()
	if _, ok := bad.all.Kinds.Resource("example.com", "v1", "widgets"); ok || bad.formerDefinitions() != 1 {
		t.Fatalf("the definition is served: %t; %d former definitions are kept, expected 1", ok, bad.formerDefinitions())
	}
	rewrite(t, s, definition, `"spec":{"scope":"Cluster",`, `"spec":{`)
	again := open(t, s)
	again.mustApply("two", `"map":{"x":1}`) // who writes waits for the owners
	if got := again.owners("one"); !strings.Contains(got, twoByName) {
		t.Errorf("owners are %s, expected %s", got, twoByName)
	}
}
