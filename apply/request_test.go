package apply

import (
	"errors"
	"strings"
	"sync"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// TestManagedFieldsInDocumentAreIgnored: managedFields in a document, as in the body of a PUT, do not appear a second
// time in the result.
func TestManagedFieldsInDocumentAreIgnored(t *testing.T) {
	e := mustEngine(Options{})
	first, err := e.Apply(Object{}, parse(`{metadata: {name: a}, number: 1}`), Request{Manager: "m1", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	withManagedFields := parse(first.Object.JSON())
	updated, err := e.Update(first.Object, withManagedFields.With("number", document.NewInt(2)), Request{Manager: "m2", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	applied, err := e.Apply(Object{Document: withManagedFields, Entries: first.Object.Entries}, parse(`{text: a}`), Request{Manager: "m2", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	for _, o := range []Object{updated.Object, applied.Object} {
		if text := o.JSON(); strings.Count(text, "managedFields") != 1 {
			t.Errorf("JSON() = %s, want managedFields once", text)
		}
		if _, err := ReadObject(o.JSON()); err != nil {
			t.Error(err)
		}
	}
}

func TestDocumentsMustBeObjects(t *testing.T) {
	e := mustEngine(Options{})
	r := Request{Manager: "m1", Version: "v1"}
	for _, c := range []struct{ live, sent, problem string }{
		{`{}`, `{metadata: [1]}`, ".metadata: expected a map"},
		{`{metadata: 1}`, `{}`, ".metadata: expected a map"},
		{`[1]`, `{}`, "expected an object"},
		{`{}`, `[1]`, "expected an object"},
		{`{apiVersion: v2}`, `{}`, "convert it"},
		{`{}`, `{apiVersion: v2}`, ".apiVersion"},
	} {
		_, applyErr := e.Apply(Object{Document: parse(c.live)}, parse(c.sent), r)
		_, updateErr := e.Update(Object{Document: parse(c.live)}, parse(c.sent), r)
		for _, err := range []error{applyErr, updateErr} {
			if err == nil || !strings.Contains(err.Error(), c.problem) {
				t.Errorf("live %s, sent %s: error = %v, want it to contain %q", c.live, c.sent, err, c.problem)
			}
		}
	}
}

func TestForcePathOfWholeObject(t *testing.T) {
	s := newScript(t)
	s.apply("m1", `{number: 1}`)
	r := Request{Manager: "m2", Version: "v1", ForcePaths: []fieldset.Path{{}}}
	if _, err := s.fast.Apply(s.live, parse(`{number: 2}`), r); err != nil {
		t.Error(err)
	}
}

func TestTopologyIsRequired(t *testing.T) {
	if _, err := mustEngine(Options{Versions: OneVersion("v1", nil)}).Apply(Object{}, parse(`{a: 1}`), Request{Manager: "m", Version: "v1"}); err == nil {
		t.Error("Apply() for a kind without topology: error = nil, want an error")
	}
}

func TestExtractAtRemovedVersion(t *testing.T) {
	live := Object{Document: parse(`{number: 1}`), Entries: []Entry{{Manager: "m1", Operation: Apply, APIVersion: "v0", FieldsV1: `{"f:number":{}}`}}}
	if _, err := mustEngine(Options{}).Extract(live, Request{Manager: "m1", Version: "v1"}); !errors.Is(err, ErrVersionGone) {
		t.Errorf("Extract() error = %v, want ErrVersionGone", err)
	}
}

// TestChangesConcurrently: Result.Changes is safe for concurrent use, which the race detector checks.
func TestChangesConcurrently(t *testing.T) {
	result, err := mustEngine(Options{}).Apply(Object{}, parse(`{number: 1}`), Request{Manager: "m1", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	var all sync.WaitGroup
	for range 8 {
		all.Go(func() {
			if !result.Changes().Added.Has(fieldset.Names("number")) {
				t.Errorf("Changes().Added =\n%vwant .number in it", result.Changes().Added)
			}
		})
	}
	all.Wait()
}

func TestConflictTextIsBounded(t *testing.T) {
	var fields, others []document.Field
	for i := range 1000 {
		name := "x" + strings.Repeat("y", i%7) + string(rune('a'+i%26)) + strings.Repeat("z", i/26)
		fields = append(fields, document.Field{Name: name, Value: document.NewInt(1)})
		others = append(others, document.Field{Name: name, Value: document.NewInt(2)})
	}
	s := newScript(t)
	first, err := s.fast.Apply(Object{}, document.NewMap(document.Field{Name: "map", Value: document.NewMap(fields...)}), Request{Manager: "m1", Version: "v1"})
	if err != nil {
		t.Fatal(err)
	}
	_, err = s.fast.Apply(first.Object, document.NewMap(document.Field{Name: "map", Value: document.NewMap(others...)}), Request{Manager: "m2", Version: "v1"})
	var conflict *ConflictError
	if !errors.As(err, &conflict) || len(conflict.Conflicts) != 1000 {
		t.Fatalf("Apply() error = %v, want 1000 conflicts", err)
	}
	if text := err.Error(); len(text) > 20_000 || !strings.Contains(text, "and 950 more") {
		t.Errorf("Error() has %d bytes and ends with %q; want at most 20000 bytes, with \"and 950 more\"", len(text), text[max(0, len(text)-300):])
	}
}

// TestMarkerKeysAreValidated: the keys beside a marker are validated like other values.
func TestMarkerKeysAreValidated(t *testing.T) {
	for _, key := range []string{`x`, `[1]`, `{a: 1}`, `[{k8s_io__value: unset}]`, `{k8s_io__value: unset}`} {
		_, err := newScript(t).tryApply("m1", `ports: [{port: `+key+`, k8s_io__value: unset}]`, true)
		if err == nil || !strings.Contains(err.Error(), "for the key port") {
			t.Errorf("key %s: Apply() error = %v, want an error for the key port", key, err)
		}
	}
}

// TestFieldNamesOfReusedValues: if a value of a parsed document is put into another map under a name that needs
// escaping, the name is escaped even if the value's original name needed no escaping.
func TestFieldNamesOfReusedValues(t *testing.T) {
	read, err := document.ParseJSON(`{"free":{"x":1,"y":{"z":2}}}`)
	if err != nil {
		t.Fatal(err)
	}
	config := document.NewMap(
		document.Field{Name: "apiVersion", Value: document.NewString("v1")},
		document.Field{Name: "kind", Value: document.NewString("Thing")},
		document.Field{Name: "metadata", Value: document.NewMap(document.Field{Name: "name", Value: document.NewString("a")})},
		document.Field{Name: "free", Value: document.NewMap(
			document.Field{Name: "a<b", Value: read.Lookup("free", "x")},
			document.Field{Name: `c"d`, Value: read.Lookup("free", "y")},
		)},
	)
	for _, plain := range []bool{false, true} {
		result, err := mustEngine(Options{plain: plain}).Apply(Object{}, config, Request{Manager: "m1", Version: "v1"})
		if err != nil {
			t.Fatal(err)
		}
		want := `{"f:free":{"f:a\u003cb":{},"f:c\"d":{".":{},"f:z":{}}}}`
		if got := result.Object.Entries[0].FieldsV1; got != want {
			t.Errorf("plain=%v: FieldsV1 = %s, want %s", plain, got, want)
		}
	}
}
