package custom

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/store"
	"github.com/cadastre/cadastre/internal/webhook"
)

// mapped are two versions that a webhook converts, with a map, and one in the status.
const mapped = `{"name":"v1","served":true,"storage":true,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"size":{"type":"integer"},
    "map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}},"status":{"type":"object","properties":{"map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}}}}}}}},
  {"name":"v2","served":true,"storage":false,"subresources":{"status":{}},"schema":{"openAPIV3Schema":{"type":"object","properties":{"sizes":{"type":"integer"},
    "map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}},"status":{"type":"object","properties":{"map":{"type":"object",%[1]s"additionalProperties":{"type":"integer"}}}}}}}}`

const (
	wholeMap = `"f:map":{}`
	eachOfIt = `"f:map":{"f:x":{}}`
)

func versionsAs(merging string) string { return fmt.Sprintf(mapped, merging) }

func (k *kit) mergeVersions(versions string) {
	k.Helper()
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+versions+`]}}`)
}

// hooks are webhooks that answer as they are told to, and note what they are asked.
type hooks struct {
	mu    sync.Mutex
	sizes []int // of each review
	// fail says why a review has no answer, refuse why objects of these names are not converted; nil if they do.
	fail   func(ctx context.Context, url string) error
	refuse func(name string) bool
}

func (h *hooks) Call(ctx context.Context, target *webhook.Target, review, answer runtime.Object) error {
	h.mu.Lock()
	h.sizes = append(h.sizes, len(review.(*apiextensionsv1.ConversionReview).Request.Objects))
	fail, refuse := h.fail, h.refuse
	h.mu.Unlock()
	if fail != nil {
		if err := fail(ctx, target.URL); err != nil {
			return err
		}
	}
	converts := counted{answer: func(names []string, response *apiextensionsv1.ConversionResponse) error {
		if refuse != nil && slices.ContainsFunc(names, refuse) {
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: "not this one"}
		}
		return nil
	}}
	return converts.Call(ctx, target, review, answer)
}

func (h *hooks) set(fail func(context.Context, string) error, refuse func(string) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.fail, h.refuse, h.sizes = fail, refuse, nil
}

func (h *hooks) reviews() []int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.sizes)
}

func isDown(context.Context, string) error { return errors.New("connection refused") }

func isLate(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }

// byHooks is what a definition says that is converted by a webhook at a path.
func byHooks(path string) string {
	return `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://hooks.example.com/` + path + `"}}}`
}

// openHooked returns a kit whose widgets are converted by hooks, with a map that is atomic.
func openHooked(t *testing.T, over store.Store) (*kit, *hooks) {
	k, h := open(t, over), &hooks{}
	k.controller.Webhooks = h
	k.defineWidgets(versionsAs(mapAsAtom), ","+byHooks("first"))
	return k, h
}

// TestOwnersFollowWhenTheWebhookIsBack: owners at a version that nobody could convert objects to, when its schema changed, follow as soon as
// somebody can, without a restart or after one. Until then they stay as they were, and the others have followed.
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
			k = open(t, s)
			k.controller.Webhooks = h // its kinds are there already, but not this one
			k.mergeDefinition("widgets", `{"spec":{`+byHooks("second")+`}}`)
		}
		h.set(nil, nil)
		k.wait("owners at v2 follow", func() bool { return strings.Contains(k.owners("two"), eachOfIt) })
		k.wait("nothing more is kept", k.isNothingKept)
		k.stop()
	}
}

// TestOwnersFollowByTheConversionOfToday: of what a definition was before only the schemas count; where its webhook was is nobody's business.
func TestOwnersFollowByTheConversionOfToday(t *testing.T) {
	k, h := openHooked(t, cachetest.OpenStore(t))
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
	ctx, cancel := context.WithCancel(t.Context())
	done := make(chan struct{})
	go func() { defer close(done); k.controller.Run(ctx) }()
	defer func() { cancel(); <-done }()
	k.wait("owners at v2 follow", func() bool { return strings.Contains(k.owners("two"), eachOfIt) })
	if got := h.reviews(); !slices.Equal(got, []int{1}) {
		t.Errorf("there were reviews of %v objects, expected one of 1", got)
	}
}

// TestRefusalsAreFinal: an object that a webhook refuses to convert keeps its owners as they are; the others follow, and nothing is kept for
// what will never be.
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

// TestWhatCountsAsAnAnswer: who stands before a webhook and says that it is not there has not answered for it.
func TestWhatCountsAsAnAnswer(t *testing.T) {
	for _, test := range []struct {
		err        error
		isAnswered bool
	}{
		{errors.New("connection refused"), false},
		{context.DeadlineExceeded, false},
		{apierrors.NewGenericServerResponse(http.StatusServiceUnavailable, "post", webhookResource, "", "", 0, true), false},
		{apierrors.NewGenericServerResponse(http.StatusBadGateway, "post", webhookResource, "", "", 0, true), false},
		{apierrors.NewGenericServerResponse(http.StatusGatewayTimeout, "post", webhookResource, "", "", 0, true), false},
		{apierrors.NewGenericServerResponse(http.StatusTooManyRequests, "post", webhookResource, "", "", 0, true), false},
		{apierrors.NewGenericServerResponse(http.StatusInternalServerError, "post", webhookResource, "", "", 0, true), true},
		{apierrors.NewGenericServerResponse(http.StatusBadRequest, "post", webhookResource, "", "", 0, true), true},
	} {
		k, h := openHooked(t, cachetest.OpenStore(t))
		k.mustCreate("v1", "one", "")
		h.set(func(context.Context, string) error { return test.err }, nil)
		if _, err := k.shown("v2", "one"); err == nil || isUnanswered(err) == test.isAnswered {
			t.Errorf("%v: it counts as an answer: %t, expected %t", err, !isUnanswered(err), test.isAnswered)
		}
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

// TestNobodyWaitsForWhoIsLate: while writers wait for owners, a webhook that does not answer has so much time for all objects together. What it
// has not converted by then follows later.
func TestNobodyWaitsForWhoIsLate(t *testing.T) {
	k, h := openHooked(t, cachetest.OpenStore(t))
	k.controller.times.hold = 50 * time.Millisecond
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
	for i := range many {
		if got := k.owners(fmt.Sprint("w", i)); !strings.Contains(got, eachOfIt) {
			t.Fatalf("owners of w%d are %s, expected %s", i, got, eachOfIt)
		}
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

// TestOwnersFollowTheNextDefinition: a definition that changes again while its owners are brought over is what they are brought to, by its webhook:
// nobody waits for the one before.
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

// TestOwnersFollowWhatIsNotServed: a definition may change while none of its versions is served.
func TestOwnersFollowWhatIsNotServed(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	unserved := func(versions string) string { return strings.Replace(versions, `"served":true`, `"served":false`, 1) }
	k.mergeVersions(unserved(fmt.Sprintf(mergingAs, asAtom, mapAsAtom)))
	k.wait("it is not served", func() bool { _, ok := k.all.Kinds.Resource("example.com", "v1", "widgets"); return !ok })
	k.mergeVersions(unserved(fmt.Sprintf(mergingAs, byName, "")))
	k.mergeVersions(fmt.Sprintf(mergingAs, byID, ""))
	k.wait("it is served", func() bool { _, ok := k.all.Kinds.Resource("example.com", "v1", "widgets"); return ok })
	k.mustApply("two", `"map":{"x":1}`) // who writes waits for the owners
	if got := k.owners("one"); !strings.Contains(got, twoByID) {
		t.Errorf("owners are %s, expected %s", got, twoByID)
	}
	k.wait("nothing more is kept", k.isNothingKept)
}

// TestWhatWasWrittenSinceIsLeftAlone: what is brought over later is not taken for what it looks like: who owns a map of which it has nothing
// by the new definition does not own what others have put into it.
func TestWhatWasWrittenSinceIsLeftAlone(t *testing.T) {
	for _, isStarted := range []bool{false, true} {
		s := cachetest.OpenStore(t)
		k, h := openHooked(t, s)
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
		k.controller.times.first = time.Hour // nothing is tried again by itself
		h.set(isDown, nil)
		old := k.endpoint("example.com", "v1", "widgets", "")
		k.mergeVersions(versionsAs(""))
		k.wait("the kind is replaced", func() bool { return k.endpoint("example.com", "v1", "widgets", "") != old })
		k.all.Now = func() time.Time { return time.Now().Add(time.Minute) }
		if err := k.merge(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"map":{"x":1}}`); err != nil { // which waits
			t.Fatal(err)
		}
		h.set(nil, nil)
		apply("since", "v1", `"map":{}`)
		apply("again", "v2", `"map":{},"sizes":4`)
		if isStarted {
			k.stop()
			k = open(t, s)
			k.controller.Webhooks = h
		}
		k.mergeDefinition("widgets", `{"spec":{`+byHooks("second")+`}}`)
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

// TestOwnersFollowFromWhereTheyAre: entries that could not be brought over to one definition, and then not to the next one, follow from the one as
// which they are.
func TestOwnersFollowFromWhereTheyAre(t *testing.T) {
	both := func(list string) string {
		v1 := fmt.Sprintf(mergingAs, list, mapAsAtom)
		return v1 + "," + strings.Replace(strings.Replace(v1, `"v1"`, `"v2"`, 1), `"storage":true`, `"storage":false`, 1)
	}
	k, h := open(t, cachetest.OpenStore(t)), &hooks{}
	k.controller.Webhooks = h
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
		all, err := k.controller.keptPasts(t.Context())
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
	again := open(t, s)
	again.controller.Webhooks = h
	h.set(nil, nil)
	again.mergeDefinition("widgets", `{"spec":{`+byHooks("second")+`}}`)
	again.wait("nothing more is kept", again.isNothingKept)
	for i := range many {
		if got := again.owners(fmt.Sprint("w", i)); !strings.Contains(got, eachOfIt) {
			t.Fatalf("owners of w%d are %s, expected %s", i, got, eachOfIt)
		}
	}
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

// TestWhatCannotBeReadIsNotGone: what is kept of a definition that nobody can read now stays until somebody can.
func TestWhatCannotBeReadIsNotGone(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	k.defineWidgets(fmt.Sprintf(mergingAs, asAtom, mapAsAtom), "")
	k.mustApply("one", twoItems)
	k.stop()
	k.mergeVersions(fmt.Sprintf(mergingAs, byName, ""))
	rewrite := func(change func(text string) string) {
		t.Helper()
		live, err := s.Get(t.Context(), cache.Key{Kind: Definitions, Name: "widgets.example.com"}.String())
		if err != nil {
			t.Fatal(err)
		}
		if _, err := s.Commit(t.Context(), store.Write{Key: live.Key, Expected: live.Revision, Value: []byte(change(string(live.Value)))}); err != nil {
			t.Fatal(err)
		}
	}
	rewrite(func(text string) string { return strings.Replace(text, `"spec":{`, `"spec":{"scope":"Cluster",`, 1) })
	bad := open(t, s)
	bad.stop()
	if _, ok := bad.all.Kinds.Resource("example.com", "v1", "widgets"); ok || bad.formerDefinitions() != 1 {
		t.Fatalf("the definition is served: %t; %d former definitions are kept, expected 1", ok, bad.formerDefinitions())
	}
	rewrite(func(text string) string { return strings.Replace(text, `"spec":{"scope":"Cluster",`, `"spec":{`, 1) })
	again := open(t, s)
	again.mustApply("two", `"map":{"x":1}`) // who writes waits for the owners
	if got := again.owners("one"); !strings.Contains(got, twoByName) {
		t.Errorf("owners are %s, expected %s", got, twoByName)
	}
}

// TestShownAsTheDefinitionHasItWhenOwnersFollowLate: that the owners of an object follow late does not make it one that was written by the new
// definition.
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

// webhookResource is nothing.
var webhookResource schema.GroupResource
