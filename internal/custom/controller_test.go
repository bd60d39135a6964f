package custom

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/objects"
	"github.com/cadastre/cadastre/internal/store"
)

// TestServedBeforeEstablished: whoever sees that a definition is established finds its kind.
func TestServedBeforeEstablished(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	watcher, err := k.all.Cache.Watch(t.Context(), cache.WatchOptions{Selection: cache.Selection{Kind: Definitions}, InitialState: true, Freshness: cache.Any})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	k.define("widgets", "Widget", "{name: v1, served: true, storage: true, "+anything+"}", "")
	for {
		events, err := watcher.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Object == nil {
				continue
			}
			if r, err := readDefinition(e.Object); err != nil || !r.isTrue(established) {
				continue
			}
			if _, ok := k.all.Kinds.Resource("example.com", "v1", "widgets"); !ok {
				t.Error("it is established, and not served")
			}
			return
		}
	}
}

// TestRestart: kinds and their objects are there as soon as a server is.
func TestRestart(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	k.defineWidgets("{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}", "")
	k.mustCreate("v1", "one", ", a: 1, b: 2")
	k.stop()

	again := open(t, s)
	again.stop() // what is there now was there when Load returned
	if doc, err := again.shown("v1", "one"); err != nil || doc.Get("a").Text() != "1" || !doc.Get("b").IsAbsent() {
		t.Errorf("%v, %v", doc, err)
	}
}

// TestReplacedKind: a writer that has found a kind before its definition changed must look again, and whatever is
// written is as one of the two has it.
func TestReplacedKind(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets("{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}", "")
	old := k.endpoint("example.com", "v1", "widgets", "")
	k.mustCreate("v1", "before", ", a: 1")
	k.mergeDefinition("widgets", `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer"},"late":{"type":"string","default":"now"}}}}}]}}`)
	k.wait("the kind is replaced", func() bool { return k.endpoint("example.com", "v1", "widgets", "") != old })
	k.wait("the old one can't be used", func() bool {
		_, err := k.all.Create(t.Context(), k.request(old, "", `{apiVersion: example.com/v1, kind: Widget, metadata: {name: late}}`))
		return err == objects.ErrReplaced
	})
	if doc, err := k.shown("v1", "before"); err != nil || doc.Get("late").Text() != "now" {
		t.Errorf("what was there before: %v, %v", doc, err)
	}
	d := old.Kind.Definition.(*definition)
	fresh := k.endpoint("example.com", "v1", "widgets", "").Kind.Definition.(*definition)
	if d == fresh || d.versions["v1"] == fresh.versions["v1"] {
		t.Error("the definition is the old one")
	}
	k.wait("new objects need not be looked at", func() bool { return fresh.IsAt(1<<40, "v1") })
}

// TestStorageVersion: a write that changes nothing brings an object to the version that is stored now.
func TestStorageVersion(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	versions := func(first, second string) string {
		return `{"spec":{"versions":[{"name":"v1","served":true,"storage":` + first + `,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},` +
			`{"name":"v2","served":true,"storage":` + second + `,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
	}
	k.defineWidgets("{name: v1, served: true, storage: true, "+anything+"}, {name: v2, served: true, storage: false, "+anything+"}", "")
	k.mustCreate("v1", "one", ", a: 1")
	k.mergeDefinition("widgets", versions("false", "true"))
	k.wait("v2 is stored", func() bool {
		kind, _ := k.all.Kinds.Resource("example.com", "v1", "widgets")
		return kind.StoredVersion() == "example.com/v2"
	})
	if got := texts(k.definition("widgets").Lookup("status", "storedVersions")); len(got) != 2 {
		t.Errorf("stored versions: %v", got)
	}
	if got := k.get("example.com/widgets", "one").Get("apiVersion").Text(); got != "example.com/v1" {
		t.Errorf("it is stored at %s already", got)
	}
	for range 2 {
		if err := k.merge(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"a":1}`); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.get("example.com/widgets", "one"); got.Get("apiVersion").Text() != "example.com/v2" || got.Lookup("metadata", "generation").Text() != "1" {
		t.Errorf("it is stored as %v", got)
	}
	if doc, err := k.shown("v1", "one"); err != nil || doc.Get("apiVersion").Text() != "example.com/v1" {
		t.Errorf("%v, %v", doc, err)
	}
}

// TestDeletion: many create objects while their definition is deleted. Nothing is left, and nobody is told that
// something was created that is then still there.
func TestDeletion(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets("{name: v1, served: true, storage: true, "+anything+"}", "")
	endpoint := k.endpoint("example.com", "v1", "widgets", "")
	k.mustCreate("v1", "held", "")
	if err := k.merge(endpoint, "held", `{"metadata":{"finalizers":["example.com/hold"]}}`); err != nil {
		t.Fatal(err)
	}
	var created atomic.Int64
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 4 {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				kind, ok := k.all.Kinds.Resource("example.com", "v1", "widgets")
				if !ok {
					return
				}
				e, err := k.all.Endpoint(kind, "v1", "")
				if err != nil {
					t.Error(err)
					return
				}
				name := strings.Repeat("x", i+1) + "-" + strings.Repeat("y", n%60+1)
				if _, err := k.all.Create(ctx, k.request(e, "", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`"}}`)); err == nil {
					created.Add(1)
				}
			}
		})
	}
	k.wait("some are created", func() bool { return created.Load() > 20 })
	if _, err := k.all.Delete(t.Context(), &objects.Deletion{Endpoint: k.endpoint(definitionsGroup, "v1", definitionsName, ""), Name: "widgets.example.com"}); err != nil {
		t.Fatal(err)
	}
	k.wait("the kind is closed", func() bool { return apierrors.IsForbidden(k.create("v1", "late", "")) })
	k.wait("only one is left", func() bool { return k.all.Cache.Count("example.com/widgets") == 1 })
	if k.definition("widgets").IsAbsent() {
		t.Fatal("the definition did not wait")
	}
	if err := k.merge(k.endpoint("example.com", "v1", "widgets", ""), "held", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	k.wait("the definition goes", func() bool { return k.definition("widgets").IsAbsent() })
	k.wait("so does the kind", func() bool { _, ok := k.all.Kinds.Resource("example.com", "v1", "widgets"); return !ok })
	cancel()
	group.Wait()
	if n := k.all.Cache.Count("example.com/widgets"); n != 0 {
		t.Errorf("%d objects are left", n)
	}
	if err := endpoint.Kind.Uses.Enter(t.Context(), nil); !errors.Is(err, objects.ErrReplaced) {
		t.Error("the kind can still be written")
	}
}

// TestNames: of two definitions that want the same names one waits until they are free.
func TestNames(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	version := "{name: v1, served: true, storage: true, " + anything + "}"
	k.defineWidgets(version, "")
	k.define("gadgets", "Widget", version, "")
	k.waitCondition("gadgets", established, "False")
	r := read(k.definition("gadgets"))
	if c := r.kept("NamesAccepted"); c.isTrue || c.message == "" || r.accepted.plural != "gadgets" || r.accepted.kind != "" {
		t.Errorf("%+v, %+v", c, r.accepted)
	}
	if _, ok := k.all.Kinds.Resource("example.com", "v1", "gadgets"); ok {
		t.Error("it is served without its names")
	}
	if _, err := k.all.Delete(t.Context(), &objects.Deletion{Endpoint: k.endpoint(definitionsGroup, "v1", definitionsName, ""), Name: "widgets.example.com"}); err != nil {
		t.Fatal(err)
	}
	k.waitCondition("gadgets", established, "True")
	if _, ok := k.all.Kinds.Resource("example.com", "v1", "gadgets"); !ok {
		t.Error("it is established, and not served")
	}
}

// slow is a store whose commits of new widgets take their time.
type slow struct{ store.Store }

func (s slow) Commit(ctx context.Context, writes ...store.Write) (store.Revision, error) {
	if own := writes[len(writes)-1]; strings.HasPrefix(own.Key, "example.com/widgets/") && own.Expected == 0 {
		time.Sleep(rand.N(60 * time.Millisecond))
	}
	return s.Store.Commit(ctx, writes...)
}

// TestNothingOutlivesItsDefinition: creations that are under way when a definition is deleted are waited for, and
// what they made is deleted.
func TestNothingOutlivesItsDefinition(t *testing.T) {
	k := open(t, slow{cachetest.OpenStore(t)})
	for range 5 {
		k.defineWidgets("{name: v1, served: true, storage: true, "+anything+"}", "")
		endpoint := k.endpoint("example.com", "v1", "widgets", "")
		var group sync.WaitGroup
		for i := range 16 {
			group.Go(func() {
				body := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w%d"}}`, i)
				_, err := k.all.Create(t.Context(), k.request(endpoint, "", body))
				if err != nil && !errors.Is(err, objects.ErrReplaced) {
					t.Error(err)
				}
			})
		}
		time.Sleep(5 * time.Millisecond)
		if _, err := k.all.Delete(t.Context(), &objects.Deletion{Endpoint: k.endpoint(definitionsGroup, "v1", definitionsName, ""), Name: "widgets.example.com"}); err != nil {
			t.Fatal(err)
		}
		k.wait("the definition goes", func() bool { return k.definition("widgets").IsAbsent() })
		if n := k.all.Cache.Count("example.com/widgets"); n != 0 {
			t.Errorf("%d objects outlive their definition", n)
		}
		group.Wait()
		if n := k.all.Cache.Count("example.com/widgets"); n != 0 {
			t.Errorf("%d objects came after it", n)
		}
		k.wait("the kind goes", func() bool { _, ok := k.all.Kinds.Resource("example.com", "v1", "widgets"); return !ok })
	}
}

// TestRestartAfterChange: a definition that changed just before a server was stopped is in force when it is back, also for
// objects that are older; and a definition that has not got its names is not served.
func TestRestartAfterChange(t *testing.T) {
	s := cachetest.OpenStore(t)
	k := open(t, s)
	version := "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}"
	k.defineWidgets(version, "")
	k.mustCreate("v1", "one", ", a: 1")
	k.define("gadgets", "Widget", version, "")
	k.waitCondition("gadgets", established, "False")
	k.stop()
	k.mergeDefinition("widgets", `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer"},"late":{"type":"string","default":"now"}}}}}]}}`)

	again := open(t, s)
	again.stop()
	if doc, err := again.shown("v1", "one"); err != nil || doc.Get("late").Text() != "now" {
		t.Errorf("what was there before: %v, %v", doc, err)
	}
	if _, ok := again.all.Kinds.Resource("example.com", "v1", "gadgets"); ok {
		t.Error("a kind is served that has not got its names")
	}
}

// TestBuiltinKindsStay: a definition takes nothing from a kind that is built in.
func TestBuiltinKindsStay(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	built, _ := k.all.Kinds.Resource("coordination.k8s.io", "v1", "leases")
	body := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: leases.coordination.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved, a test"}},
  spec: {group: coordination.k8s.io, scope: Cluster, names: {plural: leases, kind: Lease}, versions: [{name: v1, served: true, storage: true, ` + anything + `}]}}`
	definitions := k.endpoint(definitionsGroup, "v1", definitionsName, "")
	if _, err := k.all.Create(t.Context(), k.request(definitions, "", body)); err != nil {
		t.Fatal(err)
	}
	k.wait("it is established", func() bool { return read(k.get(Definitions, "leases.coordination.k8s.io")).isTrue(established) })
	if now, _ := k.all.Kinds.Resource("coordination.k8s.io", "v1", "leases"); now != built {
		t.Errorf("leases are %v now", now)
	}
	if _, err := k.all.Delete(t.Context(), &objects.Deletion{Endpoint: definitions, Name: "leases.coordination.k8s.io"}); err != nil {
		t.Fatal(err)
	}
	k.wait("the definition goes", func() bool { return k.get(Definitions, "leases.coordination.k8s.io").IsAbsent() })
	if now, _ := k.all.Kinds.Resource("coordination.k8s.io", "v1", "leases"); now != built {
		t.Errorf("leases are %v after it", now)
	}
}

// TestScalePathsChange: where the replicas are may change, and nothing else.
func TestScalePathsChange(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	const schema = `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}}}}`
	version := func(path string) string {
		return `{"name":"v1","served":true,"storage":true,"subresources":{"scale":{"specReplicasPath":"` + path + `","statusReplicasPath":".status.n"}},` + schema + `}`
	}
	k.defineWidgets(version(".spec.a"), "")
	if err := k.create("v1", "one", ", spec: {a: -1}"); !apierrors.IsInvalid(err) {
		t.Errorf("fewer than none: %v", err)
	}
	old := k.endpoint("example.com", "v1", "widgets", "")
	k.mergeDefinition("widgets", `{"spec":{"versions":[`+version(".spec.b")+`]}}`)
	k.wait("the kind is replaced", func() bool { return k.endpoint("example.com", "v1", "widgets", "") != old })
	if err := k.create("v1", "two", ", spec: {b: -1}"); !apierrors.IsInvalid(err) {
		t.Errorf("fewer than none, at the new path: %v", err)
	}
	k.mustCreate("v1", "three", ", spec: {a: -1}")
}
