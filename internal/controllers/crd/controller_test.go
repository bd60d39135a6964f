package crd_test

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/api/crd"
	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/registry"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestServedBeforeEstablished: a custom resource is served before its CRD has the condition Established=True.
func TestServedBeforeEstablished(t *testing.T) {
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	watcher, err := k.Objects.Cache.Watch(t.Context(), watchcache.WatchOptions{Selection: watchcache.Selection{Kind: crd.Definitions}, InitialState: true, Freshness: watchcache.Any})
	if err != nil {
		t.Fatal(err)
	}
	defer watcher.Close()
	k.Define("widgets", "Widget", "{name: v1, served: true, storage: true, "+crdtest.AnySchema+"}", "")
	for {
		events, err := watcher.Next(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range events {
			if e.Object == nil {
				continue
			}
			if r, err := crd.ParseStored(e.Object); err != nil || !r.IsTrue(crd.Established) {
				continue
			}
			if _, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets"); !ok {
				t.Error("widgets.example.com is Established but not served")
			}
			return
		}
	}
}

// TestRestart: after a restart, custom resources are served as soon as Load returns.
func TestRestart(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k := crdtest.Open(t, s)
	k.DefineWidgets("{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}", "")
	k.MustCreate("v1", "one", ", a: 1, b: 2")
	k.Stop()

	again := crdtest.Open(t, s)
	again.Stop() // Run is stopped, so the resource is served only because Load registered it
	if doc, err := again.Served("v1", "one"); err != nil || doc.Get("a").Text() != "1" || !doc.Get("b").IsAbsent() {
		t.Errorf("Served() = %v, %v, want a: 1 without b", doc, err)
	}
}

// TestReplacedKind: after the schema of a CRD changed, a write that still uses the previous kind is rejected with
// ErrReplaced, and stored objects are served with the new schema.
func TestReplacedKind(t *testing.T) {
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets("{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}", "")
	old := k.Widgets("v1")
	k.MustCreate("v1", "before", ", a: 1")
	k.MergeDefinition("widgets", `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer"},"late":{"type":"string","default":"now"}}}}}]}}`)
	k.WaitReplaced(old)
	k.Wait("the replaced kind to reject writes", func() bool {
		_, err := k.Objects.Create(t.Context(), k.Request(old, "", `{apiVersion: example.com/v1, kind: Widget, metadata: {name: late}}`))
		return err == registry.ErrReplaced
	})
	if doc, err := k.Served("v1", "before"); err != nil || doc.Get("late").Text() != "now" {
		t.Errorf("object from before the change = %v, %v, want the new default", doc, err)
	}
	d := old.Kind.Definition.(*crd.Resource)
	fresh := k.Widgets("v1").Kind.Definition.(*crd.Resource)
	was, _ := d.Topology("v1")
	if is, _ := fresh.Topology("v1"); d == fresh || was == is {
		t.Error("got the previous schema after the definition was changed, want the new one")
	}
	k.Wait("new objects to be marked current", func() bool { return fresh.IsServedAsStored(1<<40, "v1") })
}

// TestServedVersions: the versions of a kind are in Kubernetes' version priority: GA before beta before alpha, higher
// numbers first, then other names.
func TestServedVersions(t *testing.T) {
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	var versions []string
	for _, name := range []string{"v1alpha1", "v1", "v2beta1", "foo", "v10", "v2"} {
		versions = append(versions, fmt.Sprintf("{name: %s, served: true, storage: %t, %s}", name, name == "v1", crdtest.AnySchema))
	}
	k.DefineWidgets(strings.Join(versions, ", "), "")
	kind, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets")
	if want := []string{"v10", "v2", "v1", "v2beta1", "v1alpha1", "foo"}; !ok || !slices.Equal(kind.Versions, want) {
		t.Errorf("Versions = %v, want %v", kind.Versions, want)
	}
}

// TestStorageVersion: an update without changes stores an object that was stored at an older version at the current storage
// version.
func TestStorageVersion(t *testing.T) {
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	versions := func(first, second string) string {
		return `{"spec":{"versions":[{"name":"v1","served":true,"storage":` + first + `,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}},` +
			`{"name":"v2","served":true,"storage":` + second + `,"schema":{"openAPIV3Schema":{"type":"object","x-kubernetes-preserve-unknown-fields":true}}}]}}`
	}
	k.DefineWidgets("{name: v1, served: true, storage: true, "+crdtest.AnySchema+"}, {name: v2, served: true, storage: false, "+crdtest.AnySchema+"}", "")
	k.MustCreate("v1", "one", ", a: 1")
	k.MergeDefinition("widgets", versions("false", "true"))
	k.Wait("v2 to be the storage version", func() bool {
		kind, _ := k.Objects.Kinds.Resource("example.com", "v1", "widgets")
		return kind.StoredVersion() == "example.com/v2"
	})
	if got := k.Definition("widgets").Lookup("status", "storedVersions"); got.Len() != 2 {
		t.Errorf("storedVersions = %v, want 2 versions", got)
	}
	if got := k.Get(crdtest.Widgets, "one").Get("apiVersion").Text(); got != "example.com/v1" {
		t.Errorf("stored apiVersion before a write = %s, want example.com/v1", got)
	}
	for range 2 {
		if err := k.Merge(k.Widgets("v1"), "one", `{"a":1}`); err != nil {
			t.Fatal(err)
		}
	}
	if got := k.Get(crdtest.Widgets, "one"); got.Get("apiVersion").Text() != "example.com/v2" || got.Lookup("metadata", "generation").Text() != "1" {
		t.Errorf("stored object = %v, want version v2 and generation 1", got)
	}
	if doc, err := k.Served("v1", "one"); err != nil || doc.Get("apiVersion").Text() != "example.com/v1" {
		t.Errorf("Served() = %v, %v, want version v1", doc, err)
	}
}

// TestDeletion: the deletion of a CRD deletes all of its objects, including objects that are created concurrently.
func TestDeletion(t *testing.T) {
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets("{name: v1, served: true, storage: true, "+crdtest.AnySchema+"}", "")
	endpoint := k.Widgets("v1")
	k.MustCreate("v1", "finalized", "")
	if err := k.Merge(endpoint, "finalized", `{"metadata":{"finalizers":["example.com/hold"]}}`); err != nil {
		t.Fatal(err)
	}
	var created atomic.Int64
	var group sync.WaitGroup
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 4 {
		group.Go(func() {
			for n := 0; ctx.Err() == nil; n++ {
				kind, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets")
				if !ok {
					return
				}
				e, err := k.Objects.Endpoint(kind, "v1", "")
				if err != nil {
					t.Error(err)
					return
				}
				name := strings.Repeat("x", i+1) + "-" + strings.Repeat("y", n%60+1)
				if _, err := k.Objects.Create(ctx, k.Request(e, "", `{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"`+name+`"}}`)); err == nil {
					created.Add(1)
				}
			}
		})
	}
	k.Wait("more than 20 objects to be created", func() bool { return created.Load() > 20 })
	if _, err := k.Objects.Delete(t.Context(), &registry.Deletion{Endpoint: k.Definitions(""), Name: "widgets.example.com"}); err != nil {
		t.Fatal(err)
	}
	k.Wait("creations to be rejected", func() bool { return apierrors.IsForbidden(k.Create("v1", "late", "")) })
	k.Wait("only the object with a finalizer to be left", func() bool { return k.Objects.Cache.Count(crdtest.Widgets) == 1 })
	if k.Definition("widgets").IsAbsent() {
		t.Fatal("CustomResourceDefinition was deleted while an object with a finalizer exists, want it to wait")
	}
	if err := k.Merge(k.Widgets("v1"), "finalized", `{"metadata":{"finalizers":null}}`); err != nil {
		t.Fatal(err)
	}
	k.Wait("the definition to be deleted", func() bool { return k.Definition("widgets").IsAbsent() })
	k.Wait("the kind to be unregistered", func() bool { _, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets"); return !ok })
	cancel()
	group.Wait()
	if n := k.Objects.Cache.Count(crdtest.Widgets); n != 0 {
		t.Errorf("%d objects are left, want none", n)
	}
	if err := endpoint.Kind.WriteGate.Enter(t.Context(), nil); !errors.Is(err, registry.ErrReplaced) {
		t.Errorf("Enter() on the write gate of a deleted definition = %v, want ErrReplaced", err)
	}
}

// TestNames: a CRD whose names are in use is established when another CRD releases them.
func TestNames(t *testing.T) {
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	version := "{name: v1, served: true, storage: true, " + crdtest.AnySchema + "}"
	k.DefineWidgets(version, "")
	k.Define("gadgets", "Widget", version, "")
	k.WaitCondition("gadgets", crd.Established, "False")
	r := k.Parsed("gadgets")
	if c := r.Condition("NamesAccepted"); c.True || c.Message == "" || r.AcceptedNames.Plural != "gadgets" || r.AcceptedNames.Kind != "" {
		t.Errorf("condition %+v, accepted names %+v; want NamesAccepted=False and only the plural accepted", c, r.AcceptedNames)
	}
	if _, ok := k.Objects.Kinds.Resource("example.com", "v1", "gadgets"); ok {
		t.Error("gadgets are served although their names are not accepted")
	}
	if _, err := k.Objects.Delete(t.Context(), &registry.Deletion{Endpoint: k.Definitions(""), Name: "widgets.example.com"}); err != nil {
		t.Fatal(err)
	}
	k.WaitCondition("gadgets", crd.Established, "True")
	if _, ok := k.Objects.Kinds.Resource("example.com", "v1", "gadgets"); !ok {
		t.Error("gadgets are Established but not served")
	}
}

// slowStore is a store whose commits of new widgets are delayed.
type slowStore struct {
	storage.Store
	creations *atomic.Int64 // number of commits of new widgets that have started
}

func (s slowStore) Commit(ctx context.Context, writes ...storage.Write) (storage.Revision, error) {
	if own := writes[len(writes)-1]; strings.HasPrefix(own.Key, "example.com/widgets/") && own.Expected == 0 {
		s.creations.Add(1)
		time.Sleep(rand.N(60 * time.Millisecond)) // simulates a slow disk
	}
	return s.Store.Commit(ctx, writes...)
}

// TestNothingOutlivesItsDefinition: the deletion of a CRD waits for creations in flight and deletes their objects.
func TestNothingOutlivesItsDefinition(t *testing.T) {
	var begun atomic.Int64
	k := crdtest.Open(t, slowStore{watchcachetest.OpenStore(t), &begun})
	for range 5 {
		k.DefineWidgets("{name: v1, served: true, storage: true, "+crdtest.AnySchema+"}", "")
		endpoint := k.Widgets("v1")
		var group sync.WaitGroup
		begun.Store(0)
		for i := range 16 {
			group.Go(func() {
				body := fmt.Sprintf(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"w%d"}}`, i)
				_, err := k.Objects.Create(t.Context(), k.Request(endpoint, "", body))
				if err != nil && !errors.Is(err, registry.ErrReplaced) {
					t.Error(err)
				}
			})
		}
		k.Wait("a creation to be in flight", func() bool { return begun.Load() > 0 })
		if _, err := k.Objects.Delete(t.Context(), &registry.Deletion{Endpoint: k.Definitions(""), Name: "widgets.example.com"}); err != nil {
			t.Fatal(err)
		}
		k.Wait("the definition to be deleted", func() bool { return k.Definition("widgets").IsAbsent() })
		if n := k.Objects.Cache.Count(crdtest.Widgets); n != 0 {
			t.Errorf("%d objects are left after their definition was deleted, want none", n)
		}
		group.Wait()
		if n := k.Objects.Cache.Count(crdtest.Widgets); n != 0 {
			t.Errorf("%d objects were created after their definition was deleted, want none", n)
		}
		k.Wait("the kind to be unregistered", func() bool { _, ok := k.Objects.Kinds.Resource("example.com", "v1", "widgets"); return !ok })
	}
}

// TestRestartAfterChange: a CRD that changed while the controller was stopped is served with its new schema after
// a restart; a CRD whose names are not accepted is not served.
func TestRestartAfterChange(t *testing.T) {
	s := watchcachetest.OpenStore(t)
	k := crdtest.Open(t, s)
	version := "{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}}}}}"
	k.DefineWidgets(version, "")
	k.MustCreate("v1", "one", ", a: 1")
	k.Define("gadgets", "Widget", version, "")
	k.WaitCondition("gadgets", crd.Established, "False")
	k.Stop()
	k.MergeDefinition("widgets", `{"spec":{"versions":[{"name":"v1","served":true,"storage":true,"schema":{"openAPIV3Schema":{"type":"object","properties":{"a":{"type":"integer"},"late":{"type":"string","default":"now"}}}}}]}}`)

	again := crdtest.Open(t, s)
	again.Stop()
	if doc, err := again.Served("v1", "one"); err != nil || doc.Get("late").Text() != "now" {
		t.Errorf("object from before the change = %v, %v, want the new default", doc, err)
	}
	if _, ok := again.Objects.Kinds.Resource("example.com", "v1", "gadgets"); ok {
		t.Error("gadgets are served although their names are not accepted")
	}
}

// TestBuiltinKindsAreNotReplaced: a CustomResourceDefinition with the names of a built-in resource does not replace the
// built-in resource.
func TestBuiltinKindsAreNotReplaced(t *testing.T) {
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	built, _ := k.Objects.Kinds.Resource("coordination.k8s.io", "v1", "leases")
	body := `{apiVersion: apiextensions.k8s.io/v1, kind: CustomResourceDefinition, metadata: {name: leases.coordination.k8s.io, annotations: {api-approved.kubernetes.io: "unapproved, a test"}},
  spec: {group: coordination.k8s.io, scope: Cluster, names: {plural: leases, kind: Lease}, versions: [{name: v1, served: true, storage: true, ` + crdtest.AnySchema + `}]}}`
	definitions := k.Definitions("")
	if _, err := k.Objects.Create(t.Context(), k.Request(definitions, "", body)); err != nil {
		t.Fatal(err)
	}
	k.Wait("the definition to be Established", func() bool {
		return crd.Parse(k.Get(crd.Definitions, "leases.coordination.k8s.io")).IsTrue(crd.Established)
	})
	if now, _ := k.Objects.Kinds.Resource("coordination.k8s.io", "v1", "leases"); now != built {
		t.Errorf("leases are served by %v, want the built-in kind", now)
	}
	if _, err := k.Objects.Delete(t.Context(), &registry.Deletion{Endpoint: definitions, Name: "leases.coordination.k8s.io"}); err != nil {
		t.Fatal(err)
	}
	k.Wait("the definition to be deleted", func() bool { return k.Get(crd.Definitions, "leases.coordination.k8s.io").IsAbsent() })
	if now, _ := k.Objects.Kinds.Resource("coordination.k8s.io", "v1", "leases"); now != built {
		t.Errorf("leases are served by %v after the deletion, want the built-in kind", now)
	}
}

// TestScalePathsChange: an update that changes only the paths of the scale subresource takes effect.
func TestScalePathsChange(t *testing.T) {
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	const schema = `"schema":{"openAPIV3Schema":{"type":"object","properties":{"spec":{"type":"object","properties":{"a":{"type":"integer"},"b":{"type":"integer"}}}}}}`
	version := func(path string) string {
		return `{"name":"v1","served":true,"storage":true,"subresources":{"scale":{"specReplicasPath":"` + path + `","statusReplicasPath":".status.n"}},` + schema + `}`
	}
	k.DefineWidgets(version(".spec.a"), "")
	if err := k.Create("v1", "one", ", spec: {a: -1}"); !apierrors.IsInvalid(err) {
		t.Errorf("Create() with negative replicas = %v, want Invalid", err)
	}
	old := k.Widgets("v1")
	k.MergeVersions(version(".spec.b"))
	k.WaitReplaced(old)
	if err := k.Create("v1", "two", ", spec: {b: -1}"); !apierrors.IsInvalid(err) {
		t.Errorf("Create() with negative replicas at the new path = %v, want Invalid", err)
	}
	k.MustCreate("v1", "three", ", spec: {a: -1}")
}
