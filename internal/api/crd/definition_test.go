package crd

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cadastre/cadastre/document"
)

// parse returns a Definition in the group example.com; spec and status are the YAML of the fields of its spec and status.
func parse(t *testing.T, spec, status string) *Definition {
	t.Helper()
	doc, err := document.ParseYAML([]byte(`{metadata: {name: widgets.example.com, uid: u, generation: 3}, spec: {group: example.com, ` + spec + `}, status: {` + status + `}}`))
	if err != nil {
		t.Fatal(err)
	}
	return Parse(doc)
}

const (
	widgetNames   = `names: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [w], categories: [all]}`
	acceptedNames = `acceptedNames: {plural: widgets, singular: widget, kind: Widget, listKind: WidgetList, shortNames: [w], categories: [all]}`
)

func TestParse(t *testing.T) {
	d := parse(t, widgetNames+`, scope: Namespaced, versions: [
  {name: v1, served: true, storage: true, subresources: {status: {}, scale: {specReplicasPath: .spec.n, statusReplicasPath: .status.n}}, selectableFields: [{jsonPath: .spec.color}]},
  {name: v2beta1, served: false}]`, acceptedNames+`, conditions: [{type: Established, status: "True"}]`)
	if d.Name != "widgets.example.com" || d.UID != "u" || d.Generation != 3 || d.Group != "example.com" || !d.Namespaced || d.Terminating {
		t.Errorf("Parse() = %+v, want widgets.example.com, namespaced, with generation 3, not terminating", d)
	}
	if !d.RequestedNames.Equal(d.AcceptedNames) || d.AcceptedNames.Kind != "Widget" || !slices.Equal(d.AcceptedNames.ShortNames, []string{"w"}) {
		t.Errorf("AcceptedNames = %+v, want the same as RequestedNames, %+v", d.AcceptedNames, d.RequestedNames)
	}
	if !d.IsTrue(Established) || d.IsTrue("NamesAccepted") || !d.ConversionIsNone() || d.StorageVersion() != "v1" || !slices.Equal(d.ServedVersions(), []string{"v1"}) {
		t.Errorf("Parse() = %+v, want condition Established, conversion strategy None, and v1 as the only served and storage version", d)
	}
	v1 := d.Version("v1")
	if !slices.Equal(v1.subresources, []string{"status", "scale"}) || jsonPath(v1.scale.Replicas) != ".spec.n" || !slices.Equal(v1.selectable, []string{"spec.color"}) || d.Version("v3") != nil {
		t.Errorf("Version(\"v1\") = %+v, want subresources status and scale, replicas path .spec.n and selectable field spec.color", v1)
	}
}

// TestServedVersions checks that the newest stable version is preferred, regardless of the order in the CRD.
func TestServedVersions(t *testing.T) {
	d := parse(t, `versions: [{name: v1alpha1, served: true}, {name: v1, served: true}, {name: v3, served: false}, {name: v2beta1, served: true}, {name: v10, served: true}]`, "")
	if got, want := d.ServedVersions(), []string{"v10", "v1", "v2beta1", "v1alpha1"}; !slices.Equal(got, want) {
		t.Errorf("ServedVersions() = %v, want %v", got, want)
	}
}

func TestDeprecations(t *testing.T) {
	d := parse(t, widgetNames+`, versions: [{name: v1beta1, served: true, deprecated: true}, {name: v1beta2, served: true, deprecated: true, deprecationWarning: use v1},
  {name: v1, served: true}, {name: v2, served: true, deprecated: true}]`, "")
	all := d.Deprecations()
	for version, want := range map[string]string{
		"v1beta1": "example.com/v1beta1 Widget is deprecated; use example.com/v1 Widget",
		"v1beta2": "use v1",
		"v1":      "",
		"v2":      "example.com/v2 Widget is deprecated",
	} {
		if got := all[version].Warning; got != want {
			t.Errorf("deprecation warning of version %s: got %q, want %q", version, got, want)
		}
	}
}

// TestDecide checks that names that another CustomResourceDefinition of the group uses are not accepted, and that a
// CustomResourceDefinition becomes established when all its names are accepted.
func TestDecide(t *testing.T) {
	first := parse(t, widgetNames, acceptedNames)
	for _, test := range []struct {
		name, names    string
		reason         string
		plural, kind   string
		isEstablished  bool
		shortNameCount int
	}{
		{"no conflict", `plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList, shortNames: [g]`, "NoConflicts", "gadgets", "Gadget", true, 1},
		{"kind in use", `plural: gadgets, singular: gadget, kind: Widget, listKind: GadgetList`, "KindConflict", "gadgets", "", false, 0},
		{"plural in use", `plural: w, singular: gadget, kind: Gadget, listKind: GadgetList`, "PluralConflict", "", "Gadget", false, 0},
		{"list kind in use", `plural: gadgets, singular: gadget, kind: Gadget, listKind: Widget`, "ListKindConflict", "gadgets", "Gadget", false, 0},
		{"short name in use", `plural: gadgets, singular: gadget, kind: Gadget, listKind: GadgetList, shortNames: [g, w]`, "ShortNamesConflict", "gadgets", "Gadget", false, 0},
	} {
		d := parse(t, "names: {"+test.names+"}", "")
		names, conditions := d.Decide([]*Definition{first, d})
		if c := conditions[0]; c.Type != "NamesAccepted" || c.Reason != test.reason || c.True != test.isEstablished {
			t.Errorf("%s: first condition = %+v, want NamesAccepted=%t with reason %s", test.name, c, test.isEstablished, test.reason)
		}
		if c := conditions[1]; c.Type != Established || c.True != test.isEstablished {
			t.Errorf("%s: second condition = %+v, want Established=%t", test.name, c, test.isEstablished)
		}
		if names.Plural != test.plural || names.Kind != test.kind || len(names.ShortNames) != test.shortNameCount {
			t.Errorf("%s: accepted names = %+v, want plural %q, kind %q and %d short names", test.name, names, test.plural, test.kind, test.shortNameCount)
		}
	}
	if names, conditions := first.Decide([]*Definition{first}); !names.Equal(first.AcceptedNames) || !conditions[0].True {
		t.Errorf("Decide() of a definition whose names are accepted already: got conditions %+v, want no conflict with its own names", conditions)
	}
}

// TestWithConditions checks that a new condition replaces the condition of the same type, and that lastTransitionTime is
// retained if the status is unchanged.
func TestWithConditions(t *testing.T) {
	at := func(hour int) time.Time { return time.Date(2026, 5, 4, hour, 0, 0, 0, time.UTC) }
	doc := WithConditions(document.NewMap(), at(1), Terminating(true, "A", "a"), Condition{Established, true, "B", "b"})
	doc = WithConditions(doc, at(2), Terminating(true, "C", "c"), Condition{Established, false, "D", "d"})
	const want = `[{"lastTransitionTime":"2026-05-04T01:00:00Z","message":"c","reason":"C","status":"True","type":"Terminating"},` +
		`{"lastTransitionTime":"2026-05-04T02:00:00Z","message":"d","reason":"D","status":"False","type":"Established"}]`
	if got := doc.Lookup("status", "conditions").JSON(); got != want {
		t.Errorf("status.conditions = %s, want %s", got, want)
	}
	if d := Parse(doc); !d.HasConditions([]Condition{Terminating(true, "C", "c")}) || d.HasConditions([]Condition{Terminating(true, "A", "a")}) {
		t.Error("HasConditions() = false for the stored condition, or true for the condition that it replaced")
	}
}

// TestMarkDeleted checks that a deleted CustomResourceDefinition gets the cleanup finalizer once, in addition to its other
// finalizers.
func TestMarkDeleted(t *testing.T) {
	doc, err := document.ParseYAML([]byte(`{metadata: {name: widgets.example.com, finalizers: [example.com/other]}}`))
	if err != nil {
		t.Fatal(err)
	}
	marked, ok := MarkDeleted(doc, time.Now())
	d := Parse(marked)
	if !ok || !d.Terminating || !d.HasFinalizer() || !d.IsTrue("Terminating") || len(d.finalizers) != 2 {
		t.Errorf("MarkDeleted() = %v, %t, want a terminating definition with 2 finalizers", marked, ok)
	}
	if _, ok := MarkDeleted(marked, time.Now()); ok {
		t.Error("MarkDeleted() of a terminating definition: got true, want false")
	}
	if d := Parse(WithoutCleanupFinalizer(marked)); d.HasFinalizer() || len(d.finalizers) != 1 {
		t.Errorf("finalizers after WithoutCleanupFinalizer() = %v, want only example.com/other", d.finalizers)
	}
	if without := WithoutCleanupFinalizer(document.NewMap(document.Field{Name: "metadata", Value: document.NewMap()})); strings.Contains(without.JSON(), "finalizers") {
		t.Errorf("WithoutCleanupFinalizer() = %v, want no empty list of finalizers", without)
	}
}
