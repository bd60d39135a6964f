package crd_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/internal/controllers/crd/crdtest"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
	"github.com/cadastre/cadastre/internal/watchcache/watchcachetest"
)

// TestWebhook: objects are converted by a webhook, merged and validated at the version of the request, and keep their
// managedFields when the webhook fails.
func TestWebhook(t *testing.T) {
	p := crdtest.NewConversionServer(t)
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.TwoSizes, p.Conversion())
	v2 := k.Widgets("v2")
	apply := func(size string) error {
		r := k.Request(v2, "one", `{apiVersion: example.com/v2, kind: Widget, metadata: {name: one, labels: {a: b}}, sizes: `+size+`}`)
		_, err := k.Objects.Apply(t.Context(), r)
		return err
	}
	if err := apply("3"); err != nil {
		t.Fatal(err)
	}
	stored := k.Get(crdtest.Widgets, "one")
	if stored.Get("size").Text() != "3" || stored.Get("apiVersion").Text() != "example.com/v1" || !stored.Get("sizes").IsAbsent() {
		t.Errorf("it is stored as %v", stored)
	}
	if doc, err := k.Served("v2", "one"); err != nil || doc.Get("sizes").Text() != "3" {
		t.Errorf("%v, %v", doc, err)
	}
	before := revision(k, "one")
	if err := apply("3"); err != nil || revision(k, "one") != before {
		t.Errorf("the same again: %v", err)
	}
	if err := apply("10"); !apierrors.IsInvalid(err) {
		t.Errorf("what v2 forbids: %v", err)
	}
	owners := k.ManagedFields("v1", "one")
	p.Close()
	if err := apply("4"); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "conversion webhook for example.com/v") {
		t.Errorf("a webhook that is down: %v", err)
	}
	if after := k.ManagedFields("v1", "one"); after != owners || owners == "" {
		t.Errorf("managedFields were %s and are %s", owners, after)
	}
	// A write at the storage version needs no webhook, and entries at the other version stay.
	if err := k.Merge(k.Widgets("v1"), "one", `{"size":5}`); err != nil {
		t.Errorf("a write at the stored version: %v", err)
	}
	if after := k.ManagedFields("v1", "one"); !strings.Contains(after, `"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}},"f:sizes":{}}`) ||
		!strings.Contains(after, `"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:size":{}}`) {
		t.Errorf("owners at the other version are gone: %s", after)
	}
}

// TestWebhookPrunes: the result of a webhook is pruned.
func TestWebhookPrunes(t *testing.T) {
	p := crdtest.NewConversionServer(t)
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.TwoSizes, p.Conversion())
	k.MustCreate("v1", "one", ", size: 1")
	p.Modify(func(r *apiextensionsv1.ConversionResponse) {
		r.ConvertedObjects[0].Raw = []byte(strings.Replace(string(r.ConvertedObjects[0].Raw), `"sizes"`, `"colour":"red","sizes"`, 1))
	})
	if doc, err := k.Served("v2", "one"); err != nil || doc.Get("sizes").Text() != "1" || !doc.Get("colour").IsAbsent() {
		t.Errorf("received %v, %v", doc, err)
	}
}

// TestWebhookReviews: a response of another kind or version than the review is rejected.
func TestWebhookReviews(t *testing.T) {
	p := crdtest.NewConversionServer(t)
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.TwoSizes, p.Conversion())
	k.MustCreate("v1", "one", ", size: 1")
	for as, want := range map[metav1.TypeMeta]string{
		{}: "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=",
		{APIVersion: "apiextensions.k8s.io/v1beta1", Kind: "ConversionReview"}: "unknown conversion",
		{APIVersion: "example.com/v1", Kind: "Widget"}:                         "no kind",
	} {
		p.AnswerAs.Store(&as)
		if _, err := k.Served("v2", "one"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: received %v, expected %s", as, err, want)
		}
	}
}

// waiting is a webhook that does not answer.
type waiting struct{ until time.Time }

func (w *waiting) Call(ctx context.Context, _ *webhookclient.Target, _, _ runtime.Object) error {
	w.until, _ = ctx.Deadline()
	return context.DeadlineExceeded
}

// TestWebhookTime: the timeout of a conversion is 30 seconds, and the client gets the error.
func TestWebhookTime(t *testing.T) {
	w := &waiting{}
	k := crdtest.OpenWith(t, watchcachetest.OpenStore(t), w)
	k.DefineWidgets(crdtest.TwoSizes, crdtest.NewConversionServer(t).Conversion())
	k.MustCreate("v1", "one", ", size: 1")
	before := time.Now()
	_, err := k.Served("v2", "one")
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "conversion webhook for example.com/v1, Kind=Widget failed: context deadline exceeded") {
		t.Errorf("received %v", err)
	}
	if given := w.until.Sub(before); given < 29*time.Second || given > 40*time.Second {
		t.Errorf("the webhook has %s, expected 30s", given)
	}
}

// TestWebhookAnswers: invalid responses are rejected with Kubernetes' messages.
func TestWebhookAnswers(t *testing.T) {
	p := crdtest.NewConversionServer(t)
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.TwoSizes, p.Conversion())
	k.MustCreate("v1", "one", ", size: 1")
	raw := func(text string) func(*apiextensionsv1.ConversionResponse) {
		return func(r *apiextensionsv1.ConversionResponse) { r.ConvertedObjects[0].Raw = []byte(text) }
	}
	uid := k.Get(crdtest.Widgets, "one").Lookup("metadata", "uid").Text()
	for _, test := range []struct {
		name  string
		spoil func(*apiextensionsv1.ConversionResponse)
		want  string
	}{
		{"another uid", func(r *apiextensionsv1.ConversionResponse) { r.UID = "x" }, `expected response.uid=`},
		{"it fails", func(r *apiextensionsv1.ConversionResponse) {
			r.Result = metav1.Status{Status: "Failure", Message: "no way"}
		}, "failed: no way"},
		{"it says nothing", func(r *apiextensionsv1.ConversionResponse) { r.Result = metav1.Status{} }, "response.result.status was '', not 'Success'"},
		{"too few", func(r *apiextensionsv1.ConversionResponse) { r.ConvertedObjects = nil }, "returned 0 objects, expected 1"},
		{"too many", func(r *apiextensionsv1.ConversionResponse) {
			r.ConvertedObjects = append(r.ConvertedObjects, r.ConvertedObjects...)
		}, "returned 2 objects, expected 1"},
		{"another version", raw(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one","uid":"` + uid + `"}}`), "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)"},
		{"another kind", raw(`{"apiVersion":"example.com/v2","kind":"Gadget","metadata":{"name":"one","uid":"` + uid + `"}}`), "returned invalid object at index 0: invalid kind (expected Widget, received Gadget)"},
		{"no object", raw(`"text"`), "returned invalid object at index 0: expected an object, received a string"},
		{"another name", raw(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"two","uid":"` + uid + `"}}`), "must have the same name: one != two"},
		{"another object", raw(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one","uid":"x"}}`), "must have the same UID"},
		{"a bad label", raw(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one","uid":"` + uid + `","labels":{"a b":"c"}}}`), "metadata.labels: Invalid value"},
		{"labels that are none", raw(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one","uid":"` + uid + `","labels":{"a":1}}}`), "metadata.labels[a] must be a string"},
	} {
		p.Modify(test.spoil)
		_, err := k.Served("v2", "one")
		if status := (*apierrors.StatusError)(nil); !errors.As(err, &status) || status.ErrStatus.Code != 500 || status.ErrStatus.Reason != "" || !strings.HasPrefix(err.Error(), "conversion webhook for example.com/v1, Kind=Widget ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	p.Modify(nil)
	if doc, err := k.Served("v2", "one"); err != nil || doc.Get("sizes").Text() != "1" {
		t.Errorf("a webhook that has been mended: %v, %v", doc, err)
	}
	keep := func(r *apiextensionsv1.ConversionResponse) {
		r.ConvertedObjects[0].Raw = []byte(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one","uid":"` + uid + `","finalizers":["x/y"],"labels":{"a":"b"}},"sizes":1}`)
	}
	p.Modify(keep)
	if err := k.Merge(k.Widgets("v1"), "one", `{"size":2}`); err != nil {
		t.Fatal(err)
	}
	doc, err := k.Served("v2", "one")
	if err != nil || doc.Lookup("metadata", "labels", "a").Text() != "b" || !doc.Lookup("metadata", "finalizers").IsAbsent() ||
		!doc.Lookup("metadata", "annotations").IsAbsent() || doc.Lookup("metadata", "creationTimestamp").IsAbsent() {
		t.Errorf("a webhook may change labels and annotations, and no other metadata: %v, %v", doc, err)
	}
}

// revision returns the resourceVersion of a widget.
func revision(k *crdtest.Kit, name string) string {
	k.Helper()
	doc, err := k.Served("v1", name)
	if err != nil {
		k.Fatal(err)
	}
	return doc.Lookup("metadata", "resourceVersion").Text()
}

// TestWebhookOfOldReviews: a webhook that supports only v1beta1 gets reviews of that version, and may omit the UID.
func TestWebhookOfOldReviews(t *testing.T) {
	p := crdtest.NewConversionServer(t)
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.TwoSizes, p.ConversionAt("v0, v1beta1, v1"))
	v2 := k.Widgets("v2")
	apply := func(size string) error {
		r := k.Request(v2, "one", `{apiVersion: example.com/v2, kind: Widget, metadata: {name: one}, sizes: `+size+`}`)
		_, err := k.Objects.Apply(t.Context(), r)
		return err
	}
	p.Modify(func(r *apiextensionsv1.ConversionResponse) { r.UID = "" })
	if err := apply("3"); err != nil {
		t.Fatal(err)
	}
	if stored := k.Get(crdtest.Widgets, "one"); stored.Get("size").Text() != "3" {
		t.Errorf("it is stored as %v", stored)
	}
	if got := p.Version.Load(); got == nil || *got != "apiextensions.k8s.io/v1beta1" {
		t.Errorf("expected to be asked at v1beta1, received %v", got)
	}
	p.Modify(func(r *apiextensionsv1.ConversionResponse) {
		r.Result = metav1.Status{Status: metav1.StatusFailure, Message: "not today"}
	})
	if err := apply("4"); err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("received %v", err)
	}
}
