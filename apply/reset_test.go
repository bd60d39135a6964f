package apply

import (
	"slices"
	"testing"

	"sigs.k8s.io/structured-merge-diff/v6/fieldpath"
	smd "sigs.k8s.io/structured-merge-diff/v6/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// Reset fields of the endpoints of testKind: the main resource resets the status, and the status subresource resets all
// other fields.
var (
	mainEndpoint   = map[string]fieldset.Set{"v1": pathSet(".status"), "v2": pathSet(".status")}
	statusEndpoint = map[string]fieldset.Set{
		"v1": pathSet(".number .text .map .items .metadata"),
		"v2": pathSet(".amount .text .map .items .metadata"),
	}
)

// TestResetFields: no manager becomes the owner of reset fields or of anything below them.
func TestResetFields(t *testing.T) {
	t.Run("apply", func(t *testing.T) {
		s := newScript(t, Options{Reset: mainEndpoint})
		s.apply("m1", `{number: 1, status: {a: 1, inner: {b: 1}}}`)
		s.wantOwners("m1 .number")
	})
	t.Run("update", func(t *testing.T) {
		s := newScript(t, Options{Reset: mainEndpoint})
		s.update("m1", `{number: 1, status: {a: 1, inner: {b: 1}}}`)
		s.wantOwners("m1/Update .number")
	})
	t.Run("only reset fields", func(t *testing.T) {
		s := newScript(t, Options{Reset: mainEndpoint})
		s.apply("m1", `status: {a: 1}`)
		s.wantOwners()
	})
	t.Run("before the first apply", func(t *testing.T) {
		s := newScript(t, Options{Reset: mainEndpoint})
		s.live.Document = parse(`{number: 1, status: {a: 1}}`)
		s.apply("m1", `text: x`)
		s.wantOwners("m1 .text", "before-first-apply/Update .number")
	})
	t.Run("unset", func(t *testing.T) {
		s := newScript(t, Options{Reset: mainEndpoint, Unset: true})
		s.apply("m1", `{number: {k8s_io__value: unset}, status: {k8s_io__value: unset}}`)
		s.wantOwners("m1 .number")
	})
}

// TestResetFieldsPerEndpoint: a request that changes a reset field does not conflict, and managers that own the field
// through another endpoint keep it.
func TestResetFieldsPerEndpoint(t *testing.T) {
	s := newScript(t, Options{Reset: mainEndpoint, Unset: true})
	atMain, atMainPlain := s.fast, s.plain
	s.apply("ci", `{number: 1, map: {a: 1}}`)

	s.subresource = "status"
	s.fast, s.plain = mustEngine(Options{Reset: statusEndpoint, Unset: true}), mustEngine(Options{Reset: statusEndpoint, Unset: true, plain: true})
	s.apply("controller", `{number: 7, map: {a: 7}, status: {a: 1}}`)
	s.wantOwners("ci .number .map.a", "controller:status .status.a")
	s.update("controller", `{number: 8, status: {a: 1, b: 2}}`)
	s.wantOwners("ci .number .map.a", "controller:status .status.a", "controller/Update:status .status.b")
	s.apply("other", `{number: {k8s_io__value: unset}, map: {k8s_io__value: unset}, status: {inner: {a: 1}}}`)
	s.wantOwners("ci .number .map.a", "controller:status .status.a", "controller/Update:status .status.b", "other:status .status.inner.a")

	s.subresource = ""
	s.fast, s.plain = atMain, atMainPlain
	s.live.Document = parse(`{number: 1, map: {a: 1}, status: {a: 1, b: 2}}`) // the server restores the live values of reset fields
	s.apply("ci", `{number: 2, map: {a: 1}, status: {a: 9}}`)
	s.wantOwners("ci .number .map.a", "controller:status .status.a", "controller/Update:status .status.b", "other:status .status.inner.a")
	s.update("kubectl", `{number: 3, map: {a: 1}}`)
	s.wantOwners("ci .map.a", "kubectl/Update .number", "controller:status .status.a", "controller/Update:status .status.b", "other:status .status.inner.a")
}

// TestResetFieldsPerVersion: reset fields are declared per version; entries are compared with the reset fields of
// their own version.
func TestResetFieldsPerVersion(t *testing.T) {
	reset := map[string]fieldset.Set{"v1": pathSet(".number"), "v2": pathSet(".amount")}
	s := newScript(t, Options{Versions: newTestVersions(), Reset: reset})
	s.live = Object{Document: parse(`{number: 1, text: x}`), Entries: []Entry{
		{Manager: "m1", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{},"f:text":{}}`},
		{Manager: "m2", Operation: Apply, APIVersion: "v2", FieldsV1: `{"f:amount":{}}`},
		{Manager: "m3", Operation: Apply, APIVersion: "v2", FieldsV1: `{"f:amount":{}}`},
	}}
	s.apply("m4", `{number: 5, text: x}`) // there is no conflict, and no manager loses a field
	s.wantOwners("m1 .number .text", "m2@v2 .amount", "m3@v2 .amount", "m4 .text")
	s.convertTo("v2")
	s.apply("m4", `{amount: 6, text: x}`)
	s.wantOwners("m1 .number .text", "m2@v2 .amount", "m3@v2 .amount", "m4@v2 .text")
}

// TestResetFieldsUpstream: structured-merge-diff does not report conflicts for reset fields either, at any version of
// the owner's entry.
func TestResetFieldsUpstream(t *testing.T) {
	number := fieldpath.NewSet(fieldpath.MakePathOrDie("number"))
	schemas := map[string]*smd.Schema{"v1": testOracle.schemas["v1"], "v2": {}}
	testOracle.schemas["v1"].CopyInto(schemas["v2"])
	same := func(doc document.Value, _, _ string) document.Value { return doc }
	upstream := newOracle(schemas, map[string]*fieldpath.Set{"v1": number, "v2": number}, same)
	live := Object{Document: parse(`{number: 1, text: x}`), Entries: []Entry{
		{Manager: "m1", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:number":{},"f:text":{}}`},
		{Manager: "m2", Operation: Apply, APIVersion: "v2", FieldsV1: `{"f:number":{},"f:text":{}}`},
	}}
	out := upstream.apply(live, parse(`{number: 5, text: "y"}`), Request{Manager: "m4", Version: "v1"})
	if want := []string{"m1/Apply// .text", "m2/Apply// .text"}; !slices.Equal(out.conflicts, want) {
		t.Errorf("conflicts = %q, %v, want %q", out.conflicts, out.err, want)
	}
}
