package admissiontest

import (
	"errors"
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

const cases = `# A comment.
case: first
operation: UPDATE
resource: deployments.apps/status
stored: {kind: LimitRange, metadata: {name: l},
  spec: {limits: []}}
object: {spec: {a: 1}}
old: {metadata: {name: given, namespace: other}}
admitted: {"spec":{"a":2}}

case: second
resource: nodes
object: {}
error: 403 Forbidden: no
`

func TestCases(t *testing.T) {
	all, err := ParseCases(cases)
	if err != nil || len(all) != 2 {
		t.Fatal(len(all), err)
	}
	first, second := all[0], all[1]
	if first.Name != "first" || first.Operation != admission.Update || first.Resource.Kind != "Deployment" || first.Resource.Subresource != "status" {
		t.Errorf("first case: received %+v, want the update of a Deployment's status", first)
	}
	for _, test := range []struct {
		got  document.Value
		want string
	}{
		{first.Stored[0], `{apiVersion: v1, kind: LimitRange, metadata: {name: l, namespace: ns}, spec: {limits: []}}`},
		{first.Object, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: x, namespace: ns}, spec: {a: 1}}`},
		{first.Old, `{apiVersion: apps/v1, kind: Deployment, metadata: {name: given, namespace: other}}`},
		{first.Answer.Admitted, `{spec: {a: 2}}`},
		{second.Object, `{apiVersion: v1, kind: Node, metadata: {name: x}}`},
	} {
		if !document.Equal(test.got, Parse(test.want)) {
			t.Errorf("ParseCases(): got %s, want %s", test.got.JSON(), test.want)
		}
	}
	if second.Operation != admission.Create || second.Answer.Error != "403 Forbidden: no" || !second.Old.IsAbsent() {
		t.Errorf("second case: received %+v, want a create without an old object, rejected with a 403", second)
	}
	if text := FormatCases(all); text != cases {
		t.Errorf("FormatCases() = %s, want the parsed text %s", text, cases)
	}
}

func TestBadCases(t *testing.T) {
	for text, want := range map[string]string{
		"case: a\nobject: {}":                                   "expected a line resource: RESOURCE, received none",
		"case: a\nresource: widgets":                            `received "widgets"`,
		"case: a\nresource: pods\nsubject: x":                   "the key is unknown",
		"case: a\nresource: pods\nstored: {kind: Widget}":       `received "Widget"`,
		"case: a\nresource: pods\nobject: {":                    "object: ",
		"case: a\nresource: pods\n\n# A comment without a case": "expected a line resource: RESOURCE, received none",
	} {
		if _, err := ParseCases(text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("ParseCases(%q) = %v, want an error with %q", text, err, want)
		}
	}
}

func TestReader(t *testing.T) {
	r := NewReader(`{kind: ConfigMap, metadata: {name: b}}`, `{kind: ConfigMap, metadata: {name: a}}`, `{kind: ConfigMap, metadata: {name: c, namespace: other}}`, `{kind: Namespace, metadata: {name: a}}`)
	resource := schema.GroupResource{Resource: "configmaps"}
	for namespace, want := range map[string]string{"ns": "a b", "other": "c", "": "a b c", "none": ""} {
		found, err := r.List(t.Context(), resource, namespace)
		var names []string
		for _, object := range found {
			names = append(names, object.Document.Lookup("metadata", "name").Text())
		}
		if got := strings.Join(names, " "); err != nil || got != want {
			t.Errorf("List() of namespace %q: got names %q, error %v, want %q", namespace, got, err, want)
		}
	}
	if object, err := r.Get(t.Context(), resource, "ns", "b"); err != nil || !object.Exists() {
		t.Errorf("Get of ConfigMap ns/b: received %v, error %v, want the object", object, err)
	}
	if object, err := r.Get(t.Context(), resource, "ns", "c"); err != nil || object.Exists() {
		t.Errorf("Get of ConfigMap ns/c, which is in another namespace: received %v, error %v, want no object", object, err)
	}
}

func TestErrorText(t *testing.T) {
	for _, test := range []struct {
		err  error
		want string
	}{
		{errors.New("plain"), "plain"},
		{apierrors.NewNotFound(schema.GroupResource{Resource: "pods"}, "x"), `404 NotFound: pods "x" not found`},
	} {
		if got := ErrorText(test.err); got != test.want {
			t.Errorf("ErrorText(%v) = %s, want %s", test.err, got, test.want)
		}
	}
}

func TestPrune(t *testing.T) {
	got := Prune(Parse(`{a: null, b: {}, c: [], d: {e: {f: null}}, g: 0, h: "", i: [{}, {j: null}]}`))
	if want := Parse(`{g: 0, h: "", i: [{}, {}]}`); !document.Equal(got, want) {
		t.Errorf("Prune() = %s, want %s", got.JSON(), want.JSON())
	}
}
