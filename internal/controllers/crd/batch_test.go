package crd_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/watchcache"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// listSizes returns the field sizes of all widgets at v2, separated by spaces. If a widget cannot be converted from the storage
// version v1, it returns the sizes of the widgets that precede it in the list, and the error.
func listSizes(k *crdtest.Kit) (sizes string, err error) {
	k.Helper()
	list, err := k.Objects.Cache.List(k.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: crdtest.Widgets}})
	if err != nil {
		k.Fatal(err)
	}
	converted, failed := k.Objects.AllAt(k.Widgets("v2"), list.Objects)
	var b strings.Builder
	for i, object := range converted {
		parsed, err := object.Parsed()
		if err != nil {
			k.Fatal(err)
		}
		if object.Name() != list.Objects[i].Name() || object.Revision() != list.Objects[i].Revision() || parsed.Document.Get("apiVersion").Text() != "example.com/v2" || len(parsed.Entries) != 1 {
			k.Errorf("conversion of %s to v2: got %s, want the same name and resourceVersion, apiVersion example.com/v2 and 1 managedFields entry", list.Objects[i].AppendJSON(nil), object.AppendJSON(nil))
		}
		fmt.Fprint(&b, parsed.Document.Get("sizes").Text(), " ")
	}
	return strings.TrimSpace(b.String()), failed
}

// TestDifferenceObjectsAreConvertedTogether: the objects of a list are sent to the conversion webhook in batches of at most 100
// objects and 1 MiB per ConversionReview, and converted objects are cached, so a second list calls no webhook.
func TestDifferenceObjectsAreConvertedTogether(t *testing.T) {
	hooks := &crdtest.Webhooks{}
	k := crdtest.OpenWith(t, watchcachetest.OpenStore(t), hooks)
	k.DefineWidgets(crdtest.TwoSizes, crdtest.NewConversionServer(t).Conversion())
	var want []string
	for i := range 250 {
		k.MustCreate("v1", fmt.Sprintf("w%03d", i), fmt.Sprintf(", size: %d", i%10))
		want = append(want, fmt.Sprint(i%10))
	}
	check := func(when string, reviews ...int) {
		t.Helper()
		if got, err := listSizes(k); err != nil || got != strings.Join(want, " ") {
			t.Errorf("%s: sizes = %s, %v, want %s", when, got, err, strings.Join(want, " "))
		}
		if got := hooks.TakeCallSizes(); !slices.Equal(got, reviews) {
			t.Errorf("%s: numbers of objects per ConversionReview = %v, want %v", when, got, reviews)
		}
	}
	check("first list", 100, 100, 50)
	check("second list")
	for _, i := range []int{3, 4, 199} {
		if err := k.Merge(k.Widgets("v1"), fmt.Sprintf("w%03d", i), `{"size":7}`); err != nil {
			t.Fatal(err)
		}
		want[i] = "7"
	}
	check("after changes", 3)
	large := strings.Repeat("x", 200<<10)
	for i := 10; i < 16; i++ {
		if err := k.Merge(k.Widgets("v1"), fmt.Sprintf("w%03d", i), `{"metadata":{"annotations":{"large":"`+large+`"}},"size":8}`); err != nil {
			t.Fatal(err)
		}
		want[i] = "8"
	}
	check("after large changes", 5, 1)
	list, err := k.Objects.Cache.List(t.Context(), watchcache.Query{Selection: watchcache.Selection{Kind: crdtest.Widgets}})
	if err != nil {
		t.Fatal(err)
	}
	if converted, err := k.Objects.AllAt(k.Widgets("v1"), list.Objects); err != nil || !slices.Equal(converted, list.Objects) {
		t.Errorf("AllAt(v1), error %v: got converted objects, want the stored objects, which are at v1 already", err)
	}
}

// TestFailedReviewIsSplit: if a ConversionReview of many objects fails, each object is sent in a review of its own, and the list
// returns the objects that precede the first object that cannot be converted. A timeout is not retried.
func TestFailedReviewIsSplit(t *testing.T) {
	for _, test := range []struct {
		name      string
		answer    func(names []string, response *apiextensionsv1.ConversionResponse) error
		reviews   []int
		converted string
		failed    string
	}{
		{"response with one object", func(_ []string, r *apiextensionsv1.ConversionResponse) error {
			r.ConvertedObjects = r.ConvertedObjects[:1]
			return nil
		}, []int{4, 1, 1, 1, 1}, "0 1 2 3", ""},
		{"one object rejected", func(names []string, r *apiextensionsv1.ConversionResponse) error {
			if slices.Contains(names, "c") {
				r.Result = metav1.Status{Status: metav1.StatusFailure, Message: "rejected by the test"}
			}
			return nil
		}, []int{4, 1, 1, 1}, "0 1", "conversion webhook for example.com/v1, Kind=Widget failed: rejected by the test"},
		{"one object invalid", func(names []string, r *apiextensionsv1.ConversionResponse) error {
			if i := slices.Index(names, "b"); i >= 0 {
				r.ConvertedObjects[i].Raw = []byte(strings.Replace(string(r.ConvertedObjects[i].Raw), `"b"`, `"x"`, 1))
			}
			return nil
		}, []int{4, 1, 1}, "0", "conversion webhook for example.com/v1, Kind=Widget returned invalid object: must have the same name: b != x"},
		{"review too large", func(names []string, _ *apiextensionsv1.ConversionResponse) error {
			if len(names) > 1 {
				return errors.New("too large")
			}
			return nil
		}, []int{4, 1, 1, 1, 1}, "0 1 2 3", ""},
		{"connection refused", func([]string, *apiextensionsv1.ConversionResponse) error { return errors.New("down") },
			[]int{4, 1}, "", "conversion webhook for example.com/v1, Kind=Widget failed: down"},
		{"timeout", func([]string, *apiextensionsv1.ConversionResponse) error { return context.DeadlineExceeded },
			[]int{4}, "", "conversion webhook for example.com/v1, Kind=Widget failed: context deadline exceeded"},
	} {
		hooks := &crdtest.Webhooks{}
		hooks.Respond(test.answer)
		k := crdtest.OpenWith(t, watchcachetest.OpenStore(t), hooks)
		k.DefineWidgets(crdtest.TwoSizes, crdtest.NewConversionServer(t).Conversion())
		for i, name := range []string{"a", "b", "c", "d"} {
			k.MustCreate("v1", name, fmt.Sprintf(", size: %d", i))
		}
		converted, err := listSizes(k)
		if err == nil {
			err = errors.New("")
		}
		if converted != test.converted || err.Error() != test.failed {
			t.Errorf("%s: sizes = %q, error %q; want %q, %q", test.name, converted, err, test.converted, test.failed)
		}
		if got := hooks.TakeCallSizes(); !slices.Equal(got, test.reviews) {
			t.Errorf("%s: numbers of objects per ConversionReview = %v, want %v", test.name, got, test.reviews)
		}
	}
}
