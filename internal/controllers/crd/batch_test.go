package custom

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/webhook"
)

// counted are webhooks that note how many objects each review had.
type counted struct {
	sizes []int
	// answer says what is answered; nil converts all objects.
	answer func(names []string, response *apiextensionsv1.ConversionResponse) error
}

func (c *counted) Call(_ context.Context, _ *webhook.Target, review, answer runtime.Object) error {
	request := review.(*apiextensionsv1.ConversionReview).Request
	c.sizes = append(c.sizes, len(request.Objects))
	response := &apiextensionsv1.ConversionResponse{UID: request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	var names []string
	for _, object := range request.Objects {
		var o metav1.PartialObjectMetadata
		if err := json.Unmarshal(object.Raw, &o); err != nil {
			return err
		}
		names = append(names, o.Name)
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: []byte(convertSize(object.Raw, request.DesiredAPIVersion))})
	}
	*answer.(*apiextensionsv1.ConversionReview) = apiextensionsv1.ConversionReview{
		TypeMeta: metav1.TypeMeta{APIVersion: "apiextensions.k8s.io/v1", Kind: "ConversionReview"}, Response: response,
	}
	if c.answer == nil {
		return nil
	}
	return c.answer(names, response)
}

func (c *counted) take() []int {
	defer func() { c.sizes = nil }()
	return c.sizes
}

// listed returns the sizes of all widgets at v2, up to the first that can't be shown.
func (k *kit) listed() (sizes string, err error) {
	k.Helper()
	list, err := k.all.Cache.List(k.Context(), cache.Query{Selection: cache.Selection{Kind: "example.com/widgets"}})
	if err != nil {
		k.Fatal(err)
	}
	shown, failed := k.all.AllAt(k.endpoint("example.com", "v2", "widgets", ""), list.Objects)
	var b strings.Builder
	for i, object := range shown {
		parsed, err := object.Parsed()
		if err != nil {
			k.Fatal(err)
		}
		if object.Name() != list.Objects[i].Name() || object.Revision() != list.Objects[i].Revision() || parsed.Document.Get("apiVersion").Text() != "example.com/v2" || len(parsed.Entries) != 1 {
			k.Errorf("%s is shown as %s", list.Objects[i].AppendJSON(nil), object.AppendJSON(nil))
		}
		fmt.Fprint(&b, parsed.Document.Get("sizes").Text(), " ")
	}
	return strings.TrimSpace(b.String()), failed
}

// TestDifferenceObjectsAreConvertedTogether: a webhook is asked for many objects of a list at once, and for none that is known.
func TestDifferenceObjectsAreConvertedTogether(t *testing.T) {
	k, hooks := open(t, cachetest.OpenStore(t)), &counted{}
	k.controller.Webhooks = hooks
	k.defineWidgets(twoSizes, newProgram(t).conversion())
	var want []string
	for i := range 250 {
		k.mustCreate("v1", fmt.Sprintf("w%03d", i), fmt.Sprintf(", size: %d", i%10))
		want = append(want, fmt.Sprint(i%10))
	}
	check := func(when string, reviews ...int) {
		t.Helper()
		if got, err := k.listed(); err != nil || got != strings.Join(want, " ") {
			t.Errorf("%s: received %s, %v", when, got, err)
		}
		if got := hooks.take(); !slices.Equal(got, reviews) {
			t.Errorf("%s: the webhook was asked for %v objects, expected %v", when, got, reviews)
		}
	}
	check("the first time", 100, 100, 50)
	check("again")
	for _, i := range []int{3, 4, 199} {
		if err := k.merge(k.endpoint("example.com", "v1", "widgets", ""), fmt.Sprintf("w%03d", i), `{"size":7}`); err != nil {
			t.Fatal(err)
		}
		want[i] = "7"
	}
	check("after changes", 3)
	large := strings.Repeat("x", 200<<10)
	for i := 10; i < 16; i++ {
		if err := k.merge(k.endpoint("example.com", "v1", "widgets", ""), fmt.Sprintf("w%03d", i), `{"metadata":{"annotations":{"large":"`+large+`"}},"size":8}`); err != nil {
			t.Fatal(err)
		}
		want[i] = "8"
	}
	check("large ones", 5, 1)
	list, err := k.all.Cache.List(t.Context(), cache.Query{Selection: cache.Selection{Kind: "example.com/widgets"}})
	if err != nil {
		t.Fatal(err)
	}
	if shown, err := k.all.AllAt(k.endpoint("example.com", "v1", "widgets", ""), list.Objects); err != nil || !slices.Equal(shown, list.Objects) {
		t.Errorf("what is stored as it is shown is made anew, or not shown: %v", err)
	}
}

// TestConvertedAlone: who can't convert many at once is asked for each alone, and what is before an object that can't be converted is
// shown.
func TestConvertedAlone(t *testing.T) {
	for _, test := range []struct {
		name    string
		answer  func(names []string, response *apiextensionsv1.ConversionResponse) error
		reviews []int
		shown   string
		failed  string
	}{
		{"only the first is answered", func(_ []string, r *apiextensionsv1.ConversionResponse) error {
			r.ConvertedObjects = r.ConvertedObjects[:1]
			return nil
		}, []int{4, 1, 1, 1, 1}, "0 1 2 3", ""},
		{"one is refused", func(names []string, r *apiextensionsv1.ConversionResponse) error {
			if slices.Contains(names, "c") {
				r.Result = metav1.Status{Status: metav1.StatusFailure, Message: "not this one"}
			}
			return nil
		}, []int{4, 1, 1, 1}, "0 1", "conversion webhook for example.com/v1, Kind=Widget failed: not this one"},
		{"one is spoiled", func(names []string, r *apiextensionsv1.ConversionResponse) error {
			if i := slices.Index(names, "b"); i >= 0 {
				r.ConvertedObjects[i].Raw = []byte(strings.Replace(string(r.ConvertedObjects[i].Raw), `"b"`, `"x"`, 1))
			}
			return nil
		}, []int{4, 1, 1}, "0", "conversion webhook for example.com/v1, Kind=Widget returned invalid object: must have the same name: b != x"},
		{"too much at once", func(names []string, _ *apiextensionsv1.ConversionResponse) error {
			if len(names) > 1 {
				return errors.New("too large")
			}
			return nil
		}, []int{4, 1, 1, 1, 1}, "0 1 2 3", ""},
		{"nobody is there", func([]string, *apiextensionsv1.ConversionResponse) error { return errors.New("down") },
			[]int{4, 1}, "", "conversion webhook for example.com/v1, Kind=Widget failed: down"},
		{"it takes too long", func([]string, *apiextensionsv1.ConversionResponse) error { return context.DeadlineExceeded },
			[]int{4}, "", "conversion webhook for example.com/v1, Kind=Widget failed: context deadline exceeded"},
	} {
		k, hooks := open(t, cachetest.OpenStore(t)), &counted{answer: test.answer}
		k.controller.Webhooks = hooks
		k.defineWidgets(twoSizes, newProgram(t).conversion())
		for i, name := range []string{"a", "b", "c", "d"} {
			k.mustCreate("v1", name, fmt.Sprintf(", size: %d", i))
		}
		shown, err := k.listed()
		if err == nil {
			err = errors.New("")
		}
		if shown != test.shown || err.Error() != test.failed {
			t.Errorf("%s: received %q, %q, expected %q, %q", test.name, shown, err, test.shown, test.failed)
		}
		if got := hooks.take(); !slices.Equal(got, test.reviews) {
			t.Errorf("%s: the webhook was asked for %v objects, expected %v", test.name, got, test.reviews)
		}
	}
}
