package crd

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
	"github.com/cadastre/cadastre/internal/storage"
)

// twoVersions is the spec of a CustomResourceDefinition with two versions: only v1 has the field old, and only v2 has the
// field new, with a default.
const twoVersions = widgetNames + `, scope: Cluster, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}, old: {type: integer}}}}},
  {name: v2, served: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}, new: {type: integer, default: 5}}}}}]`

// webhookConversion is the part of a spec that sets the conversion strategy Webhook.
const webhookConversion = `, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://hooks.example.com"}}}`

func widget(t *testing.T, version, name, fields string) document.Value {
	t.Helper()
	doc, err := document.ParseJSON(`{"apiVersion":"example.com/` + version + `","kind":"Widget","metadata":{"name":"` + name + `"}` + fields + `}`)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestConversionNone checks that, with the conversion strategy None, an object is pruned with the schemas of its stored
// version and of the served version, and defaulted with the schema of its stored version only.
func TestConversionNone(t *testing.T) {
	kind := parse(t, twoVersions, acceptedNames).NewKind(nil, nil)
	r := kind.Definition.(*Resource)
	if kind.Name != "Widget" || kind.StoredAt != "example.com/v1" || !slices.Equal(kind.Versions, []string{"v2", "v1"}) || !kind.Custom || kind.Terminating {
		t.Errorf("NewKind() = %+v, want the custom kind Widget at v2 and v1, stored at example.com/v1", kind)
	}
	stored := widget(t, "v1", "one", `,"a":1,"old":2,"unknown":3`)
	for version, want := range map[string]string{"v1": `"a":1,"old":2`, "v2": `"a":1`} {
		got, err := r.FromStorage(stored, version)
		if err != nil || !document.Equal(got, widget(t, version, "one", ","+want)) {
			t.Errorf("FromStorage() at %s = %v, %v, want an object with %s", version, got, err, want)
		}
	}
	if got, err := r.FromStorage(widget(t, "v2", "one", `,"a":1`), "v2"); err != nil || got.Get("new").Text() != "5" {
		t.Errorf("FromStorage() of an object stored at v2 = %v, %v, want the default new: 5", got, err)
	}
	if got, err := r.ToStorage(widget(t, "v2", "one", `,"a":1,"new":7`)); err != nil || !document.Equal(got, widget(t, "v1", "one", `,"a":1`)) {
		t.Errorf("ToStorage() = %v, %v, want an object at v1 without the field new", got, err)
	}
	if got := r.RoundTripped(widget(t, "v2", "one", `,"a":1,"new":7`)); !got.Get("new").IsAbsent() {
		t.Errorf("RoundTripped() = %v, want no field new", got)
	}
	if _, err := r.Convert(stored, "example.com/v1", "example.com/v3"); !errors.Is(err, apply.ErrVersionGone) {
		t.Errorf("Convert() to an unknown version = %v, want ErrVersionGone", err)
	}
}

// TestMarkCurrent checks that, after MarkCurrent(revision), an object is served without conversion only if it is requested at
// the storage version and its revision is greater than the argument of MarkCurrent.
func TestMarkCurrent(t *testing.T) {
	r := NewResource(parse(t, twoVersions, acceptedNames), nil, nil)
	isCurrent := func(revision storage.Revision, version string) bool { return r.IsServedAsStored(revision, version) }
	if isCurrent(1<<40, "v1") || r.IsMarkedCurrent() {
		t.Error("IsServedAsStored() or IsMarkedCurrent() of a new resource = true, want false")
	}
	r.MarkCurrent(10)
	if isCurrent(10, "v1") || !isCurrent(11, "v1") || isCurrent(11, "v2") || !r.IsMarkedCurrent() {
		t.Error("after MarkCurrent(10): IsMarkedCurrent() = false, or IsServedAsStored() does not return true for revision 11 at v1 only")
	}
	r.MarkStale()
	if isCurrent(11, "v1") {
		t.Error("IsServedAsStored() after MarkStale() = true, want false")
	}
}

// TestCompiledSchemasAreReused checks that a new generation of a CustomResourceDefinition reuses the compiled schemas of the
// versions that it does not change.
func TestCompiledSchemasAreReused(t *testing.T) {
	before := NewResource(parse(t, twoVersions, acceptedNames), nil, nil)
	after := NewResource(parse(t, strings.Replace(twoVersions, "default: 5", "default: 6", 1), acceptedNames), before, nil)
	isReused := func(version string) bool {
		a, _ := before.Topology(version)
		b, _ := after.Topology(version)
		return a == b
	}
	if !isReused("v1") || isReused("v2") {
		t.Errorf("reuse of compiled schemas: got v1 %t, v2 %t, want v1 true, v2 false", isReused("v1"), isReused("v2"))
	}
}

// webhookFunc is a conversion webhook that changes only the apiVersion. It rejects a review that contains an object with the
// name "rejected". The function receives the names of the objects in each review; if it returns an error, the call of the
// webhook fails with that error.
type webhookFunc func(names []string) error

func (f webhookFunc) Call(_ context.Context, _ *webhookclient.Target, review, answer runtime.Object) error {
	request := review.(*apiextensionsv1.ConversionReview).Request
	response := &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	var names []string
	for _, object := range request.Objects {
		var o metav1.PartialObjectMetadata
		if err := json.Unmarshal(object.Raw, &o); err != nil {
			return err
		}
		names = append(names, o.Name)
		text := strings.Replace(string(object.Raw), `"`+o.APIVersion+`"`, `"`+request.DesiredAPIVersion+`"`, 1)
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: []byte(text)})
	}
	if slices.Contains(names, "rejected") {
		response.Result = metav1.Status{Status: metav1.StatusFailure, Message: "not this one"}
	}
	*answer.(*apiextensionsv1.ConversionReview) = apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "ConversionReview"}, Response: response,
	}
	return f(names)
}

// TestConvertAll checks that one ConversionReview contains all objects, that the objects before the first failure are
// returned, and that the error distinguishes an unavailable webhook from a webhook that rejects an object.
func TestConvertAll(t *testing.T) {
	for _, test := range []struct {
		name          string
		objects       []string
		err           error
		calls         []int
		converted     int
		isUnavailable bool
	}{
		{"all", []string{"a", "b"}, nil, []int{2}, 2, false},
		{"one rejected", []string{"a", "rejected", "b"}, nil, []int{3, 1, 1}, 1, false},
		{"down", []string{"a", "b"}, errors.New("connection refused"), []int{2, 1}, 0, true},
		{"too slow", []string{"a", "b"}, context.DeadlineExceeded, []int{2}, 0, true},
	} {
		var calls []int
		d := parse(t, twoVersions+webhookConversion, acceptedNames)
		r := NewResource(d, nil, NewConverter(d, webhookFunc(func(names []string) error {
			calls = append(calls, len(names))
			return test.err
		})))
		stored := []document.Value{widget(t, "v2", "first", "")} // an object at v2, which needs no conversion
		for _, name := range test.objects {
			stored = append(stored, widget(t, "v1", name, `,"a":1`))
		}
		got, err := r.ConvertAll(t.Context(), stored, "v2")
		if len(got) != 1+test.converted || IsUnavailable(err) != test.isUnavailable || (err == nil) != (test.converted == len(test.objects)) || !slices.Equal(calls, test.calls) {
			t.Errorf("%s: ConvertAll() returned %d objects and error %v after calls with %v objects, want %d objects after calls with %v", test.name, len(got), err, calls, 1+test.converted, test.calls)
		}
		if err != nil && !errors.Is(err, apply.ErrConversionUnavailable) {
			t.Errorf("%s: ConvertAll(): error = %v, want ErrConversionUnavailable", test.name, err)
		}
	}
}
