package apply

import (
	"reflect"
	"strings"
	"testing"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

func TestNewRejectsInvalidOptions(t *testing.T) {
	for _, c := range []struct {
		options Options
		want    string
	}{
		{Options{}, "Options.Versions is required"},
		{Options{Versions: OneVersion("v1", schema.Untyped), MaxUpdateEntries: -1}, "Options.MaxUpdateEntries: expected 0 or more, received -1"},
	} {
		if _, err := New(c.options); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("New() = %v, want an error that contains %q", err, c.want)
		}
	}
}

// TestRejectsTopologyWithoutMap: Apply, Update and Extract fail for a kind whose topology is not a map.
func TestRejectsTopologyWithoutMap(t *testing.T) {
	text, err := schema.FromGoType(reflect.TypeFor[string]())
	if err != nil {
		t.Fatal(err)
	}
	live := Object{
		Document: parse(`{apiVersion: v1, a: 1}`),
		Entries:  []Entry{{Manager: "m", Operation: Apply, APIVersion: "v1", FieldsV1: `{"f:a":{}}`}},
	}
	for name, kind := range map[string]*schema.Type{"none": nil, "a string": text} {
		e, err := New(Options{Versions: OneVersion("v1", kind)})
		if err != nil {
			t.Fatal(err)
		}
		r := Request{Manager: "m", Version: "v1"}
		_, applied := e.Apply(live, parse(`{a: 2}`), r)
		_, updated := e.Update(live, parse(`{apiVersion: v1, a: 2}`), r)
		_, extracted := e.Extract(live, r)
		for _, err := range []error{applied, updated, extracted} {
			if err == nil || !strings.Contains(err.Error(), "use schema.Untyped") {
				t.Errorf("%s: error = %v, want an error that contains \"use schema.Untyped\"", name, err)
			}
		}
	}
}

func TestUpdateRejectsAbsentDocument(t *testing.T) {
	s := newScript(t)
	if _, err := s.fast.Update(Object{}, document.Value{}, s.request("m")); err == nil || !strings.Contains(err.Error(), "expected an object, received none") {
		t.Errorf("Update(absent) error = %v, want \"expected an object, received none\"", err)
	}
}
