package cli

import (
	"testing"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/ownership"
)

// TestShellPath checks that parsing the result of shellPath yields the path that was passed to
// shellPath.
func TestShellPath(t *testing.T) {
	object, err := apply.ReadObject(`{"apiVersion":"v1","kind":"X","metadata":{"managedFields":[{"manager":"m","operation":"Apply","apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{
		"f:metadata":{"f:labels":{"f:example.com/team":{},"f:a b":{},"f:plain":{}},"f:finalizers":{"v:\"example.com/x\"":{},"v:\"a,b\"":{}}},
		"f:spec":{".":{},"f:items":{"k:{\"name\":\"app\"}":{".":{},"f:image":{}},"k:{\"name\":\"a,b\"}":{".":{}},"k:{\"name\":\"\"}":{".":{}},"k:{\"name\":\"true\"}":{".":{}},"k:{\"name\":\"x=[y]\"}":{".":{}}},
			"f:ports":{"k:{\"containerPort\":80,\"protocol\":\"TCP\"}":{".":{},"f:hostPort":{}}},
			"f:flags":{"k:{\"on\":true}":{".":{}}}}}}]}}`)
	if err != nil {
		t.Fatal(err)
	}
	fields, err := object.Entries[0].Fields()
	if err != nil {
		t.Fatal(err)
	}
	texts := map[string]bool{}
	for path := range fields.All() {
		text := shellPath(path)
		texts[text] = true
		expression, err := ownership.ParsePath(text)
		if err != nil {
			t.Errorf("ParsePath(%s): %v", text, err)
			continue
		}
		resolved, err := expression.Resolve(object)
		if err != nil || fieldset.New(resolved).String() != fieldset.New(path).String() {
			t.Errorf("%s resolves to %s, %v, want %s", text, resolved, err, path)
		}
	}
	for _, want := range []string{
		`spec.items[name=app].image`, `spec.ports[containerPort=80,protocol=TCP].hostPort`, `metadata.labels["example.com/team"]`,
		`metadata.labels.plain`, `spec.items[name="a,b"]`, `spec.items[name=""]`, `spec.items[name=true]`, `spec.flags[on=true]`,
	} {
		if !texts[want] {
			t.Errorf("shellPath() returned %v, want one of them to be %s", texts, want)
		}
	}
}
