package registry

import (
	"strings"
	"testing"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
)

// TestStoredMarkers checks that data that looks like an unset marker and was stored while the feature gate was disabled can
// be written back by updates and patches, but not extended or copied with changes.
func TestStoredMarkers(t *testing.T) {
	o := open(t, Options{})
	o.Unset = false
	const stored = `{"metadata":{"name":"c"},"data":{"k8s_io__value":"x"}}`
	if _, err := o.Create(t.Context(), o.request(t, "configmaps", "default", "", stored)); err != nil {
		t.Fatal(err)
	}
	o.Unset = true
	for _, test := range []struct {
		name, body string
		patch      Patch
		want       string // a part of the error; "" if the write succeeds
	}{
		{"the same data", stored, nil, ""},
		{"the same data with a label", `{"metadata":{"name":"c","labels":{"a":"b"}},"data":{"k8s_io__value":"x"}}`, nil, ""},
		{"changed data", `{"metadata":{"name":"c"},"data":{"k8s_io__value":"y"}}`, nil, ".data: expected a value"},
		{"a marker elsewhere", `{"metadata":{"name":"c","labels":{"k8s_io__value":"unset"}},"data":{"k8s_io__value":"x"}}`, nil, ".metadata.labels: expected a value"},
		{"an escaped marker", `{"metadata":{"name":"c","labels":{"k8s_io\u005f_value":"unset"}}}`, nil, ".metadata.labels: expected a value"},
		{"a merge patch of another field", `{"data":{"b":"k8s_io__value"}}`, MergePatch, ".data: expected a value"},
		{"a merge patch of a label", `{"metadata":{"labels":{"c":"k8s_io__value"}}}`, MergePatch, ""},
		{"a JSON patch", `[{"op":"copy","from":"/data","path":"/metadata/annotations"}]`, JSONPatch, ""},
		{"a JSON patch by parts", `[{"op":"add","path":"/metadata/labels/k8s_io__value","value":"unset"}]`, JSONPatch, ".metadata.labels: expected a value"},
		{"removal", `{"data":{"k8s_io__value":null}}`, MergePatch, ""},
	} {
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

// TestFindMarkersIsBounded checks that an error about markers does not grow with the number of markers.
func TestFindMarkersIsBounded(t *testing.T) {
	doc, err := document.ParseJSON(`{"a":[` + strings.Repeat(`{"k8s_io__value":1},`, 10_000) + `1]}`)
	if err != nil {
		t.Fatal(err)
	}
	if found := findMarkers(doc, anyMarker); len(found) != maxMarkers || found[1].path.String() != ".a[1]" {
		t.Errorf("findMarkers() = %d markers, want %d", len(found), maxMarkers)
	}
}
