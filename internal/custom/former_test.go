package custom

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

const (
	twoItems   = `"list":[{"name":"a","id":"1","num":7},{"name":"b","id":"2"}],"map":{"x":1,"z":2}`
	twoByName  = `"f:list":{"k:{\"name\":\"a\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"name\":\"b\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{"f:x":{},"f:z":{}}`
	twoByID    = `"f:list":{"k:{\"id\":\"1\"}":{".":{},"f:id":{},"f:name":{},"f:num":{}},"k:{\"id\":\"2\"}":{".":{},"f:id":{},"f:name":{}}},"f:map":{"f:x":{},"f:z":{}}`
	ownedWhole = `"f:list":{},"f:map":{}`
)

func (k *kit) applyWidget(name, fields string) error {
	k.Helper()
	for {
		r := k.request(k.endpoint("example.com", "v1", "widgets", ""), name, `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`"},`+fields+`}`)
		if _, err := k.all.Apply(k.Context(), r); !errors.Is(err, objects.ErrReplaced) {
			return err
		}
	}
}

func (k *kit) mustApply(name, fields string) {
	k.Helper()
	if err := k.applyWidget(name, fields); err != nil {
		k.Fatal(err)
	}
}

// isNothingKept reports whether nothing is kept of what definitions were before.
func (k *kit) isNothingKept() bool {
	k.Helper()
	all, err := k.controller.keptPasts(k.Context(), "")
	if err != nil {
		k.Fatal(err)
	}
	return len(all) == 0
}

// formerDefinitions is how many definitions are kept that others have taken the place of.
func (k *kit) formerDefinitions() int {
	k.Helper()
	list, err := k.all.Cache.List(k.Context(), cache.Query{Selection: cache.Selection{Kind: formers}, Freshness: cache.Latest})
	if err != nil {
		k.Fatal(err)
	}
	return len(list.Objects)
}

// TestOwnersFollowAfterARestart: a server that is stopped before the owners are as a new definition has them goes on
// when it is back, also if there were two such definitions, one after the other.
func TestOwnersFollowAfterARestart(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	k.stop()
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byName, "")+`]}}`)
	k.mergeDefinition("widgets", `{"spec":{"names":{"shortNames":["w"]}}}`)
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byID, "")+`]}}`)
	if got := k.formerDefinitions(); got != 2 {
		t.Errorf("%d former definitions are kept, expected the two whose schemas were replaced", got)
	}
	if got := k.owners("one"); !strings.Contains(got, ownedWhole) {
		t.Fatalf("somebody has brought owners over already: %s", got)
	}

	again := open(t, s)
	again.mustApply("two", `"map":{"x":1}`) // who writes waits for the owners
	if got := again.owners("one"); !strings.Contains(got, twoByID) {
		t.Errorf("owners are %s, expected %s", got, twoByID)
	}
	again.wait("nothing more is kept", again.isNothingKept)
	again.stop()
	if again.controller.loaded != nil {
		t.Error("what was loaded is kept when its owners have followed")
	}
}

// stopping is a store whose commits to widgets fail, once it is closed, but for the first.
type stopping struct {
	store.Store
	isClosed atomic.Bool
	passed   atomic.Int64
}

func (s *stopping) Commit(ctx context.Context, writes ...store.Write) (store.Revision, error) {
	if s.isClosed.Load() && strings.HasPrefix(writes[0].Key, "example.com/widgets/") && s.passed.Add(1) > 1 {
		return 0, errors.New("this is the end")
	}
	return s.Store.Commit(ctx, writes...)
}

// TestOwnersFollowHalfway: a server that ends when some of the owners are brought over brings over the others when it
// is back.
func TestOwnersFollowHalfway(t *testing.T) {
	s := &stopping{Store: cachetest.OpenStore(t)}
	k := open(t, s)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	for i := range 5 {
		k.mustApply(fmt.Sprint("w", i), twoItems)
	}
	s.isClosed.Store(true)
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byName, "")+`]}}`)
	k.wait("all are tried", func() bool { return s.passed.Load() >= 5 })
	k.mergeDefinition("widgets", `{"spec":{"names":{"shortNames":["w"]}}}`)
	k.wait("the names are accepted", func() bool { return len(read(k.definition("widgets")).accepted.shortNames) == 1 })
	k.stop()
	s.isClosed.Store(false)
	if got := k.formerDefinitions(); got != 1 {
		t.Errorf("%d former definitions are kept, expected 1", got)
	}
	again := open(t, s)
	for i := range 5 {
		again.wait(fmt.Sprintf("the owners of w%d follow", i), func() bool { return strings.Contains(again.owners(fmt.Sprint("w", i)), twoByName) })
	}
	again.wait("nothing more is kept", again.isNothingKept)
}

// TestFormerDefinitionsGo: what is kept goes with the definition, and when all is done; a dry run, and a change that
// merges nothing otherwise, keep nothing.
func TestFormerDefinitionsGo(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byName, "")+`]}}`)
	k.wait("nothing is kept when all is done", func() bool { return k.formerDefinitions() == 0 })
	k.stop()
	definitions := k.endpoint(definitionsGroup, "v1", definitionsName, "")
	dry := k.request(definitions, "widgets.example.com", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byID, "")+`]}}`)
	dry.DryRun = true
	if _, err := k.all.Patch(t.Context(), dry, objects.MergePatch); err != nil {
		t.Fatal(err)
	}
	k.mergeDefinition("widgets", `{"metadata":{"labels":{"a":"b"}},"spec":{"names":{"shortNames":["w"]}}}`)
	if got := k.formerDefinitions(); got != 0 {
		t.Errorf("%d former definitions are kept for nothing", got)
	}
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byID, "")+`]}}`)
	live, err := k.all.Cache.Get(t.Context(), cache.Key{Kind: Definitions, Name: "widgets.example.com"}, cache.Latest)
	if err != nil {
		t.Fatal(err)
	}
	if _, _, err := k.all.Cache.Commit(t.Context(), store.Write{Key: live.Key(), Expected: live.Revision()}); err != nil {
		t.Fatal(err)
	}
	again := open(t, s)
	again.wait("nothing is kept of a definition that is gone", func() bool { return again.formerDefinitions() == 0 })
}

// TestFormerDefinitionsAreInOrder: one definition was before the other by its generation, which is not how their keys sort.
func TestFormerDefinitionsAreInOrder(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.stop()
	for i := range 12 {
		k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, []string{asAtom, byName}[(i+1)%2], "")+`]}}`)
	}
	all, err := k.controller.keptPasts(t.Context(), "")
	if err != nil {
		t.Fatal(err)
	}
	kept := all[read(k.definition("widgets")).uid].formers
	if len(kept) != 12 {
		t.Fatalf("%d former definitions are kept, expected 12", len(kept))
	}
	for i, one := range kept {
		if one.generation != int64(i+1) {
			t.Errorf("former definition %d is of generation %d", i, one.generation)
		}
	}
}

// TestOwnersAreWaitedForTwice: a definition that changes again, in something else, while owners are brought over keeps
// writers waiting, too.
func TestOwnersAreWaitedForTwice(t *testing.T) {
	g := &gated{Store: cachetest.OpenStore(t), arrived: make(chan struct{}), opened: make(chan struct{})}
	k := open(t, g)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	g.isClosed.Store(true)
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, byName, "")+`]}}`)
	<-g.arrived
	k.mergeDefinition("widgets", `{"spec":{"names":{"shortNames":["w"]}}}`)
	k.wait("the names are accepted", func() bool { return len(read(k.definition("widgets")).accepted.shortNames) == 1 })
	done := make(chan error, 1)
	go func() { done <- k.applyWidget("one", `"list":[{"name":"a","id":"1"}]`) }()
	select {
	case err := <-done:
		close(g.opened)
		t.Fatalf("somebody wrote before the owners were there: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	close(g.opened)
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	if list := k.get("example.com/widgets", "one").Get("list"); list.Len() != 1 {
		t.Errorf("what was given up stays: %v", list)
	}
}

// TestOwnersStayWhereNothingMergesOtherwise: a version whose schema is as it was needs nobody who converts to it:
// writers do not wait for a webhook that does not answer.
func TestOwnersStayWhereNothingMergesOtherwise(t *testing.T) {
	k, p := open(t, cachetest.OpenStore(t)), newProgram(t)
	k.defineWidgets(twoSizes, p.conversion())
	k.mustCreate("v2", "one", ", sizes: 3")
	before, calls := k.owners("one"), p.calls.Load()
	if !strings.Contains(before, `"apiVersion":"example.com/v2"`) {
		t.Fatalf("nobody owns anything at v2: %s", before)
	}
	old := k.endpoint("example.com", "v1", "widgets", "")
	k.mergeDefinition("widgets", `{"spec":{"versions":[
		{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"},"late":{"type":"string"}}}}},
		{"name":"v2","served":true,"storage":false,"schema":{"openAPIV3Schema":{"type":"object","properties":{"sizes":{"type":"integer","maximum":9}}}}}]}}`)
	k.wait("the kind is replaced", func() bool {
		return k.endpoint("example.com", "v1", "widgets", "") != old && k.formerDefinitions() == 0
	})
	if got := p.calls.Load() - calls; got != 0 {
		t.Errorf("the webhook was asked %d times", got)
	}
	if got := k.owners("one"); got != before {
		t.Errorf("owners are %s, expected %s", got, before)
	}
}

// TestThePastOfADefinition: what a definition was before is not what it has become since.
func TestThePastOfADefinition(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.stop()
	for _, list := range []string{byName, byID, byName} {
		k.mergeDefinition("widgets", `{"spec":{"versions":[`+fmt.Sprintf(mergingAs, list, "")+`]}}`)
	}
	r := read(k.definition("widgets"))
	for generation := range r.generation {
		r.generation = generation + 1
		p, err := k.controller.pastOf(t.Context(), newDefinition(r, nil, nil))
		if err != nil {
			t.Fatal(err)
		}
		if len(p.formers) != int(generation) || p.isOver() != (generation == 0) {
			t.Errorf("generation %d has %d former definitions, and its past is over: %t", generation+1, len(p.formers), p.isOver())
		}
	}
}
