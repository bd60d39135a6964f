package structural

import (
	"slices"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

func TestValidateStatus(t *testing.T) {
	typ := compile(t, `{"type":"object","properties":{"spec":{"type":"string"},"status":{"type":"object","properties":{"a":{"type":"string"},"b":{"type":"string"}}}}}`)
	old := parse(t, `{"apiVersion":"example.com/v1","kind":"Thing","metadata":{"name":"a","namespace":"b","resourceVersion":"1"},"spec":3,"status":{"a":1}}`)
	value := old.With("status", parse(t, `{"a":1,"b":2}`))
	want := []string{`status.b: Invalid value: "integer": b in body must be of type string: "integer"`}
	if got := messages(typ.ValidateStatus(value, old)); !slices.Equal(got, want) {
		t.Errorf("ValidateStatus() with an invalid spec and an unchanged invalid field = %q, want %q", got, want)
	}
}

func TestScale(t *testing.T) {
	scaled := options
	scaled.Scale = &Scale{SpecReplicas: ".spec.replicas", StatusReplicas: ".status.replicas", LabelSelector: ".status.selector"}
	typ, err := Compile(parse(t, `{"type":"object","x-kubernetes-preserve-unknown-fields":true}`), scaled)
	if err != nil {
		t.Fatal(err)
	}
	obj := parse(t, testObject(`{"replicas":-1}`)).With("status", parse(t, `{"replicas":"3","selector":4}`))
	want := []string{
		`.spec.replicas: Invalid value: -1: should be a non-negative integer`,
		`.status.replicas: Invalid value: 0: .status.replicas accessor error: 3 is of the type string, expected int64`,
		`.status.selector: Invalid value: "": .status.selector accessor error: 4 is of the type int64, expected string`,
	}
	if got := messages(typ.Validate(obj, document.Value{})); !slices.Equal(got, want) {
		t.Errorf("Validate():\ngot  %q\nwant %q", got, want)
	}
	if got := messages(typ.ValidateStatus(obj, obj)); !slices.Equal(got, want[1:]) {
		t.Errorf("ValidateStatus():\ngot  %q\nwant %q", got, want[1:])
	}
}

func TestWarnings(t *testing.T) {
	typ := compile(t, `{"type":"object"}`)
	obj := parse(t, `{"metadata":{"finalizers":["z","example.com","foregroundDeletion","a/b","old"]}}`)
	want := []string{
		`metadata.finalizers: "example.com": prefer a domain-qualified finalizer name including a path (/) to avoid accidental conflicts with other finalizer writers`,
		`metadata.finalizers: "z": prefer a domain-qualified finalizer name to avoid accidental conflicts with other finalizer writers`,
	}
	if got := typ.Warnings(obj, parse(t, `{"metadata":{"finalizers":["old"]}}`)); !slices.Equal(got, want) {
		t.Errorf("Warnings():\ngot  %q\nwant %q", got, want)
	}
}

func TestTopology(t *testing.T) {
	typ := compile(t, schemaOf(listOfPorts))
	spec, _ := typ.Topology().Map.TypeOf("spec")
	if spec.List == nil || spec.List.Relationship != schema.Keyed || len(spec.List.Keys) != 2 {
		t.Errorf("topology of spec = %+v, want a list with two keys", spec)
	}
	unknown, err := Compile(document.Value{}, options)
	if err != nil || unknown.Topology() != schema.Untyped {
		t.Errorf("topology without a schema = %v, %v, want schema.Untyped", unknown.Topology(), err)
	}
}

func TestCompileRejectsUnknownTypes(t *testing.T) {
	_, err := Compile(parse(t, schemaOf(`{"type":"object","not":{"type":"strange"}}`)), options)
	const want = `invalid schema: properties.spec.not.type: expected one of object, array, string, integer, number, boolean, null, received "strange"`
	if err == nil || err.Error() != want {
		t.Errorf("Compile() of an unknown type:\ngot error %v\nwant      %s", err, want)
	}
}

// TestPreserveUnknownFields checks that spec.preserveUnknownFields disables the pruning of unknown fields and of nulls.
func TestPreserveUnknownFields(t *testing.T) {
	all := options
	all.Preserve = true
	typ, err := Compile(parse(t, schemaOf(`{"type":"object","properties":{"a":{"type":"string"}}}`)), all)
	if err != nil {
		t.Fatal(err)
	}
	obj := parse(t, testObject(`{"a":null,"b":{"c":1}}`))
	read, unknown, err := typ.Decode(obj)
	if err != nil || len(unknown) > 0 || !document.Same(read, obj) {
		t.Errorf("Decode() = %s, %q, %v, want no change", read, unknown, err)
	}
}

// TestValidObjectsDoNotAllocate checks that decoding, defaulting and validating a valid object does not allocate memory.
func TestValidObjectsDoNotAllocate(t *testing.T) {
	typ := compile(t, schemaOf(listOfPorts))
	obj := parse(t, testObject(`[{"port":1,"protocol":"TCP"}]`))
	for name, do := range map[string]func(){
		"Decode":             func() { typ.Decode(obj) },
		"Default":            func() { typ.Default(obj) },
		"Validate on create": func() { typ.Validate(obj, document.Value{}) },
		"Validate on update": func() { typ.Validate(obj, obj) },
	} {
		if n := testing.AllocsPerRun(100, do); n > 0 {
			t.Errorf("%s of a valid object: got %v allocations, want 0", name, n)
		}
	}
}
