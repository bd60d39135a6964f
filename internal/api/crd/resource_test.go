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

// twoVersions is a definition of which each version has a field that the other lacks; v2 defaults it.
const twoVersions = widgetNames + `, scope: Cluster, versions: [
  {name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}, old: {type: integer}}}}},
  {name: v2, served: true, schema: {openAPIV3Schema: {type: object, properties: {a: {type: integer}, new: {type: integer, default: 5}}}}}]`

const byWebhook = `, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [v1], clientConfig: {url: "https://hooks.example.com"}}}`

func widget(t *testing.T, version, name, fields string) document.Value {
	t.Helper()
	doc, err := document.ParseJSON(`{"apiVersion":"example.com/` + version + `","kind":"Widget","metadata":{"name":"` + name + `"}` + fields + `}`)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// TestConversionNone checks that an object is pruned at its stored version and at the served version, and defaulted at
// the stored version only.
func TestConversionNone(t *testing.T) {
	kind := parse(t, twoVersions, acceptedNames).NewKind(nil, nil)
	r := kind.Definition.(*Resource)
	if kind.Name != "Widget" || kind.StoredAt != "example.com/v1" || !slices.Equal(kind.Versions, []string{"v2", "v1"}) || !kind.Custom || kind.Terminating {
		t.Errorf("received %+v", kind)
	}
	stored := widget(t, "v1", "one", `,"a":1,"old":2,"unknown":3`)
	for version, want := range map[string]string{"v1": `"a":1,"old":2`, "v2": `"a":1`} {
		got, err := r.FromStorage(stored, version)
		if err != nil || !document.Equal(got, widget(t, version, "one", ","+want)) {
			t.Errorf("%s: received %v, %v", version, got, err)
		}
	}
	if got, err := r.FromStorage(widget(t, "v2", "one", `,"a":1`), "v2"); err != nil || got.Get("new").Text() != "5" {
		t.Errorf("received %v, %v", got, err)
	}
	if got, err := r.ToStorage(widget(t, "v2", "one", `,"a":1,"new":7`)); err != nil || !document.Equal(got, widget(t, "v1", "one", `,"a":1`)) {
		t.Errorf("received %v, %v", got, err)
	}
	if got := r.RoundTripped(widget(t, "v2", "one", `,"a":1,"new":7`)); !got.Get("new").IsAbsent() {
		t.Errorf("RoundTripped() = %v, want no field new", got)
	}
	if _, err := r.Convert(stored, "example.com/v1", "example.com/v3"); !errors.Is(err, apply.ErrVersionGone) {
		t.Errorf("Convert() to an unknown version = %v, want ErrVersionGone", err)
	}
}

// TestMarkCurrent checks that only objects written at the storage version after the mark are served as stored.
func TestMarkCurrent(t *testing.T) {
	r := NewResource(parse(t, twoVersions, acceptedNames), nil, nil)
	isCurrent := func(revision storage.Revision, version string) bool { return r.IsServedAsStored(revision, version) }
	if isCurrent(1<<40, "v1") || r.IsMarkedCurrent() {
		t.Error("a new resource is current")
	}
	r.MarkCurrent(10)
	if isCurrent(10, "v1") || !isCurrent(11, "v1") || isCurrent(11, "v2") || !r.IsMarkedCurrent() {
		t.Error("expected v1 after revision 10 to be current")
	}
	r.MarkStale()
	if isCurrent(11, "v1") {
		t.Error("a stale resource is current")
	}
}

// TestCompiledSchemasAreReused checks that the compiled schema of a version is reused if a new generation leaves it
// unchanged.
func TestCompiledSchemasAreReused(t *testing.T) {
	before := NewResource(parse(t, twoVersions, acceptedNames), nil, nil)
	after := NewResource(parse(t, strings.Replace(twoVersions, "default: 5", "default: 6", 1), acceptedNames), before, nil)
	topologies := func(version string) bool {
		a, _ := before.Topology(version)
		b, _ := after.Topology(version)
		return a == b
	}
	if !topologies("v1") || topologies("v2") {
		t.Error("expected the compiled schema of v1 to be reused, and that of v2 to be compiled again")
	}
}

// webhookFunc is a conversion webhook that changes the apiVersion, or fails.
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

// TestConvertAll checks that objects share a ConversionReview, that the objects before the first failure are returned,
// and that an unavailable webhook is distinguished from one that rejects an object.
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
		d := parse(t, twoVersions+byWebhook, acceptedNames)
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
			t.Errorf("%s: received %d objects, %v, after calls with %v objects", test.name, len(got), err, calls)
		}
		if err != nil && !errors.Is(err, apply.ErrConversionUnavailable) {
			t.Errorf("%s: error %v, want ErrConversionUnavailable", test.name, err)
		}
	}
}
