package registry

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

// TestStoredMarkers checks that data that looks like an unset marker and was stored while the feature gate was disabled can be
// written back at its path by updates and patches, whatever else they change, but not be changed or copied to another path.
func TestStoredMarkers(t *testing.T) {
	o := open(t, Options{})
	const stored = `{"metadata":{"name":"c"},"data":{"k8s_io__value":"x"}}`
	reset := func() {
		t.Helper()
		o.Unset = false
		_, _ = o.Delete(t.Context(), &Deletion{Endpoint: o.endpoint(t, "", "configmaps"), Namespace: "default", Name: "c"}) // a 404 at first
		if _, err := o.Create(t.Context(), o.request(t, "configmaps", "default", "", stored)); err != nil {
			t.Fatal(err)
		}
		o.Unset = true
	}
	const labels, data, annotations = ".metadata.labels: expected a value", ".data: expected a value", ".metadata.annotations: expected a value"
	for _, test := range []struct {
		name, body string
		patch      Patch
		want       string // a part of the error; "" if the write succeeds
	}{
		{"the same data", stored, nil, ""},
		{"the same data with a label", `{"metadata":{"name":"c","labels":{"a":"b"}},"data":{"k8s_io__value":"x"}}`, nil, ""},
		{"data beside it", `{"metadata":{"name":"c"},"data":{"k8s_io__value":"x","b":"y"}}`, nil, ""},
		{"changed data", `{"metadata":{"name":"c"},"data":{"k8s_io__value":"y"}}`, nil, data},
		{"a marker elsewhere", `{"metadata":{"name":"c","labels":{"k8s_io__value":"unset"}},"data":{"k8s_io__value":"x"}}`, nil, labels},
		{"the same data elsewhere", `{"metadata":{"name":"c","labels":{"k8s_io__value":"x"}},"data":{"k8s_io__value":"x"}}`, nil, labels},
		{"an escaped marker", `{"metadata":{"name":"c","labels":{"k8s_io\u005f_value":"unset"}}}`, nil, labels},
		{"removal by an update", `{"metadata":{"name":"c"},"data":{"a":"b"}}`, nil, ""},
		{"a merge patch of data beside it", `{"data":{"b":"k8s_io__value"}}`, MergePatch, ""},
		{"a merge patch of the same data", `{"data":{"k8s_io__value":"x","b":"c"}}`, MergePatch, ""},
		{"a merge patch of other data", `{"data":{"k8s_io__value":"y"}}`, MergePatch, data},
		{"a merge patch of a label", `{"metadata":{"labels":{"c":"k8s_io__value"}}}`, MergePatch, ""},
		{"a merge patch elsewhere", `{"metadata":{"labels":{"k8s_io__value":"x"}}}`, MergePatch, labels},
		{"a JSON patch that copies it", `[{"op":"copy","from":"/data","path":"/metadata/annotations"}]`, JSONPatch, annotations},
		{"a JSON patch that moves it", `[{"op":"move","from":"/data","path":"/metadata/annotations"}]`, JSONPatch, annotations},
		{"a JSON patch of data beside it", `[{"op":"add","path":"/data/b","value":"c"}]`, JSONPatch, ""},
		{"a JSON patch by parts", `[{"op":"add","path":"/metadata/labels","value":{}},{"op":"add","path":"/metadata/labels/k8s_io__value","value":"unset"}]`, JSONPatch, labels},
		{"removal", `{"data":{"k8s_io__value":null}}`, MergePatch, ""},
	} {
		reset()
		request := o.request(t, "configmaps", "default", "c", test.body)
		var err error
		if test.patch == nil {
			_, err = o.Update(t.Context(), request)
		} else {
			_, err = o.Patch(t.Context(), request, test.patch)
		}
		if test.want == "" && err != nil || test.want != "" && (!apierrors.IsBadRequest(err) || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
}

// TestStoredMarkersInLists checks that a stored marker in a list item may be written back when items before it are added, but not be
// moved to an item with other keys.
func TestStoredMarkersInLists(t *testing.T) {
	topology, _ := api.BuiltinTopology("", "v1", "Service")
	e := &Endpoint{topology: topology}
	parse := func(text string) document.Value {
		t.Helper()
		doc, err := document.ParseYAML([]byte(text))
		if err != nil {
			t.Fatal(err)
		}
		return doc
	}
	live := parse(`{spec: {ports: [{port: 80, extra: {k8s_io__value: x}}], untyped: [1, {k8s_io__value: y}]}}`)
	for _, test := range []struct{ doc, want string }{
		{`{spec: {ports: [{port: 79}, {port: 80, protocol: TCP, extra: {k8s_io__value: x}}], untyped: [{k8s_io__value: y}]}}`, ""},
		{`{spec: {ports: [{port: 80, protocol: UDP, extra: {k8s_io__value: x}}]}}`, ".spec.ports[0].extra: expected a value"},
		{`{spec: {untyped: [{a: {k8s_io__value: y}}]}}`, ".spec.untyped[0].a: expected a value"},
	} {
		err := e.checkNoMarkers(live, parse(test.doc))
		if test.want == "" && err != nil || test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)) {
			t.Errorf("checkNoMarkers(%s): %v, want %q", test.doc, err, test.want)
		}
	}
}

// TestFindMarkersIsBounded checks that an error about markers does not grow with the number of markers.
func TestFindMarkersIsBounded(t *testing.T) {
	doc, err := document.ParseJSON(`{"a":[` + strings.Repeat(`{"k8s_io__value":1},`, 10_000) + `1]}`)
	if err != nil {
		t.Fatal(err)
	}
	if found := findMarkers(nil, doc, nil); len(found) != maxMarkers || found[1].path.String() != ".a[1]" {
		t.Errorf("findMarkers() = %d markers, want %d", len(found), maxMarkers)
	}
}
