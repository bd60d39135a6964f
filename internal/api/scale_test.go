package api

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

func TestScaleOf(t *testing.T) {
	for _, test := range []struct{ name, kind, obj, want string }{
		{"a deployment", "deployments.apps",
			`{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, namespace: b, uid: c, resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z", labels: {x: y}}, spec: {replicas: 3, selector: {matchLabels: {b: "1", a: "2"}, matchExpressions: [{key: c, operator: In, values: [z, "y"]}, {key: d, operator: DoesNotExist}]}}, status: {replicas: 2}}`,
			`{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: a, namespace: b, uid: c, resourceVersion: "7", creationTimestamp: "2026-01-01T00:00:00Z"}, spec: {replicas: 3}, status: {replicas: 2, selector: "a=2,b=1,c in (y,z),!d"}}`},
		{"zero replicas", "statefulsets.apps", `{metadata: {name: a}, spec: {replicas: 0, selector: {}}}`,
			`{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: a}, spec: {}, status: {replicas: 0}}`},
		{"label map as selector", "replicationcontrollers", `{metadata: {name: a}, spec: {replicas: 1, selector: {b: c, a: d}}}`,
			`{apiVersion: autoscaling/v1, kind: Scale, metadata: {name: a}, spec: {replicas: 1}, status: {replicas: 0, selector: "a=d,b=c"}}`},
	} {
		got, err := builtin(t, test.kind).ScaleOf(parse(t, test.obj))
		if want := parse(t, test.want); err != nil || !document.Equal(got, want) {
			t.Errorf("%s: ScaleOf() = %v, %v, want %v", test.name, got, err, want)
		}
	}
	bad := `{spec: {selector: {matchExpressions: [{key: a, operator: Near}]}}}`
	if _, err := builtin(t, "deployments.apps").ScaleOf(parse(t, bad)); err == nil {
		t.Error("ScaleOf() of an object with an invalid selector: error = nil, want an error")
	}
}

func TestWithScale(t *testing.T) {
	k := builtin(t, "deployments.apps")
	obj := parse(t, `{spec: {replicas: 3, paused: true}}`)
	if got := k.WithScale(obj, parse(t, `{spec: {replicas: 3}}`)); !document.Same(got, obj) {
		t.Errorf("WithScale() with unchanged replicas = %v, want the same document", got)
	}
	if got := k.WithScale(obj, parse(t, `{spec: {}}`)); got.JSON() != `{"spec":{"paused":true,"replicas":0}}` {
		t.Errorf("WithScale() with a Scale without spec.replicas = %v, want replicas 0", got)
	}
}

// randomEntries returns at most 5 random managed fields entries. It uses only two field managers, so that the entries of an
// object and of its Scale often have the same identity.
func randomEntries(r *rand.Rand, versions []string) []apply.Entry {
	sets := []string{
		`{"f:spec":{"f:replicas":{}}}`, `{"f:spec":{"f:paused":{}}}`, `{"f:spec":{"f:paused":{},"f:replicas":{}}}`,
		`{"f:spec":{".":{},"f:replicas":{}}}`, `{"f:metadata":{"f:labels":{"f:a":{}}}}`,
	}
	pick := func(from ...string) string { return from[r.IntN(len(from))] }
	seen := map[entryIdentity]bool{}
	var entries []apply.Entry
	for range r.IntN(6) {
		e := apply.Entry{
			Manager: pick("a", "b"), Operation: apply.Operation(pick("Apply", "Update")), APIVersion: pick(versions...),
			Subresource: pick("", "scale"), FieldsV1: pick(sets...),
		}
		if r.IntN(4) > 0 {
			e.Time = time.Unix(int64(1e9+r.IntN(3)), 0).UTC()
		}
		if !seen[identityOf(e)] {
			seen[identityOf(e)] = true
			entries = append(entries, e)
		}
	}
	return entries
}

func managedFields(entries []apply.Entry) []metav1.ManagedFieldsEntry {
	var list []metav1.ManagedFieldsEntry
	for _, e := range entries {
		m := metav1.ManagedFieldsEntry{
			Manager: e.Manager, Operation: metav1.ManagedFieldsOperationType(e.Operation), APIVersion: e.APIVersion, Subresource: e.Subresource,
			FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(e.FieldsV1),
		}
		if !e.Time.IsZero() {
			m.Time = &metav1.Time{Time: e.Time}
		}
		list = append(list, m)
	}
	return list
}

// sortedJSON returns managed fields entries as sorted lines of JSON, because Kubernetes' implementation returns entries that
// compare equal in random order.
func sortedJSON(t *testing.T, entries []metav1.ManagedFieldsEntry) string {
	t.Helper()
	var lines []string
	for _, e := range entries {
		text, err := json.Marshal(e)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(lines, string(text))
	}
	slices.Sort(lines)
	return fmt.Sprint(lines)
}

// TestScaleEntries compares ScaleEntries and MergeScaleEntries with apimachinery's ScaleHandler on random managed fields
// entries.
func TestScaleEntries(t *testing.T) {
	k := builtin(t, "deployments.apps")
	path := fieldpath.MakePathOrDie("spec", "replicas")
	for seed := range uint64(3000) {
		r := rand.New(rand.NewPCG(seed, 1))
		object := randomEntries(r, []string{"apps/v1", "apps/v1", "apps/v0"})
		scale := randomEntries(r, []string{ScaleVersion})
		oracle := managedfields.NewScaleHandler(managedFields(object), schema.GroupVersion{Group: "apps", Version: "v1"}, managedfields.ResourcePathMappings{"apps/v1": path})

		want, err := oracle.ToSubresource()
		if err != nil {
			t.Fatal(err)
		}
		got, err := k.ScaleEntries(object)
		if err != nil {
			t.Fatal(err)
		}
		if g, w := sortedJSON(t, managedFields(got)), sortedJSON(t, want); g != w {
			t.Fatalf("seed %d: ScaleEntries(%v) =\n%s, want\n%s", seed, object, g, w)
		}
		if want, err = oracle.ToParent(managedFields(scale)); err != nil {
			t.Fatal(err)
		}
		if got, err = k.MergeScaleEntries(object, scale, "apps/v1"); err != nil {
			t.Fatal(err)
		}
		if g, w := sortedJSON(t, managedFields(got)), sortedJSON(t, want); g != w {
			t.Fatalf("seed %d: MergeScaleEntries(%v, %v) =\n%s, want\n%s", seed, object, scale, g, w)
		}
		for i := range got {
			if i < len(want) && (got[i].Manager != want[i].Manager || string(got[i].Operation) != string(want[i].Operation) || got[i].Subresource != want[i].Subresource) {
				t.Fatalf("seed %d: order of entries = %v, want %v", seed, got, want)
			}
		}
	}
}

// TestScaleUpdateMovesOwnership checks that an update of the scale subresource moves the ownership of spec.replicas from the
// field manager that applied it to the field manager that updated the Scale.
func TestScaleUpdateMovesOwnership(t *testing.T) {
	k := builtin(t, "deployments.apps")
	engine, err := BodyEngine(schema.FromAPIVersionAndKind(ScaleVersion, "Scale"), EngineOptions{})
	if err != nil {
		t.Fatal(err)
	}
	object := []apply.Entry{{Manager: "ci", Operation: apply.Apply, APIVersion: "apps/v1", Time: time.Unix(1e9, 0), FieldsV1: `{"f:spec":{"f:paused":{},"f:replicas":{}}}`}}
	obj := parse(t, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: a, uid: b}, spec: {paused: true, replicas: 1, selector: {}}}`)
	live, err := k.ScaleOf(obj)
	if err != nil {
		t.Fatal(err)
	}
	entries, err := k.ScaleEntries(object)
	if err != nil {
		t.Fatal(err)
	}
	updated := live.With("spec", parse(t, `{replicas: 5}`))
	r, err := engine.Update(apply.Object{Document: live, Entries: entries}, updated, apply.Request{Manager: "kubectl", Subresource: "scale", Version: ScaleVersion, Time: time.Unix(2e9, 0)})
	if err != nil {
		t.Fatal(err)
	}
	after, err := k.MergeScaleEntries(object, r.Object.Entries, "apps/v1")
	if err != nil {
		t.Fatal(err)
	}
	want := []apply.Entry{
		{Manager: "ci", Operation: apply.Apply, APIVersion: "apps/v1", Time: time.Unix(1e9, 0), FieldsV1: `{"f:spec":{"f:paused":{}}}`},
		{Manager: "kubectl", Operation: apply.Update, APIVersion: "apps/v1", Subresource: "scale", FieldsV1: `{"f:spec":{"f:replicas":{}}}`},
	}
	if !slices.Equal(after, want) {
		t.Errorf("MergeScaleEntries() = %v, want %v", after, want)
	}
	if got := k.WithScale(obj, r.Object.Document).Lookup("spec", "replicas").Text(); got != "5" {
		t.Errorf("spec.replicas after WithScale() = %s, want 5", got)
	}
}
