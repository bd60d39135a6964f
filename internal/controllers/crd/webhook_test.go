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

// TestWebhook: objects are converted by a conversion webhook, and merged and validated at the version of the request. If
// the webhook fails, managedFields do not change.
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
		t.Errorf("stored object = %v, want size: 3 at v1", stored)
	}
	if doc, err := k.Served("v2", "one"); err != nil || doc.Get("sizes").Text() != "3" {
		t.Errorf("Served(v2) = %v, %v, want sizes: 3", doc, err)
	}
	before := revision(k, "one")
	if err := apply("3"); err != nil || revision(k, "one") != before {
		t.Errorf("second apply of the same configuration: error %v, resourceVersion %s; want success and resourceVersion %s, a no-op", err, revision(k, "one"), before)
	}
	if err := apply("10"); !apierrors.IsInvalid(err) {
		t.Errorf("apply of a value that v2 forbids = %v, want Invalid", err)
	}
	owners := k.ManagedFields("v1", "one")
	p.Close()
	if err := apply("4"); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "conversion webhook for example.com/v") {
		t.Errorf("apply while the webhook is down = %v, want an internal error", err)
	}
	if after := k.ManagedFields("v1", "one"); after != owners || owners == "" {
		t.Errorf("managedFields changed from %s to %s after a failed apply", owners, after)
	}
	// A write at the storage version v1 calls no webhook, and the managedFields entry at v2 is retained.
	if err := k.Merge(k.Widgets("v1"), "one", `{"size":5}`); err != nil {
		t.Errorf("write at the storage version = %v, want success without the webhook", err)
	}
	if after := k.ManagedFields("v1", "one"); !strings.Contains(after, `"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}},"f:sizes":{}}`) ||
		!strings.Contains(after, `"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:size":{}}`) {
		t.Errorf("managedFields = %s, want entries at both versions", after)
	}
}

// TestWebhookPrunes: fields that a conversion webhook returns and the schema does not specify are pruned.
func TestWebhookPrunes(t *testing.T) {
	p := crdtest.NewConversionServer(t)
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.TwoSizes, p.Conversion())
	k.MustCreate("v1", "one", ", size: 1")
	p.Modify(func(r *apiextensionsv1.ConversionResponse) {
		r.ConvertedObjects[0].Raw = []byte(strings.Replace(string(r.ConvertedObjects[0].Raw), `"sizes"`, `"colour":"red","sizes"`, 1))
	})
	if doc, err := k.Served("v2", "one"); err != nil || doc.Get("sizes").Text() != "1" || !doc.Get("colour").IsAbsent() {
		t.Errorf("Served(v2) = %v, %v, want sizes: 1 without colour", doc, err)
	}
}

// TestWebhookReviews: the server rejects a webhook response whose apiVersion or kind differs from the ConversionReview of the
// request.
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
			t.Errorf("response of type %s: error %v, want %s", as, err, want)
		}
	}
}

// timeoutWebhooks is a webhook client that records the deadline of its call and fails with a timeout.
type timeoutWebhooks struct{ deadline time.Time }

func (w *timeoutWebhooks) Call(ctx context.Context, _ *webhookclient.Target, _, _ runtime.Object) error {
	w.deadline, _ = ctx.Deadline()
	return context.DeadlineExceeded
}

// TestWebhookTimeout: the timeout of a call to a conversion webhook is 30 seconds, and a timeout is returned to the client
// as an internal error.
func TestWebhookTimeout(t *testing.T) {
	w := &timeoutWebhooks{}
	k := crdtest.OpenWith(t, watchcachetest.OpenStore(t), w)
	k.DefineWidgets(crdtest.TwoSizes, crdtest.NewConversionServer(t).Conversion())
	k.MustCreate("v1", "one", ", size: 1")
	before := time.Now()
	_, err := k.Served("v2", "one")
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "conversion webhook for example.com/v1, Kind=Widget failed: context deadline exceeded") {
		t.Errorf("Served(v2) = %v, want an internal error: context deadline exceeded", err)
	}
	if timeout := w.deadline.Sub(before); timeout < 29*time.Second || timeout > 40*time.Second {
		t.Errorf("timeout of the webhook call = %s, want 30s", timeout)
	}
}

// TestWebhookInvalidResponses: invalid responses of a conversion webhook are rejected with Kubernetes' messages.
func TestWebhookInvalidResponses(t *testing.T) {
	p := crdtest.NewConversionServer(t)
	k := crdtest.Open(t, watchcachetest.OpenStore(t))
	k.DefineWidgets(crdtest.TwoSizes, p.Conversion())
	k.MustCreate("v1", "one", ", size: 1")
	raw := func(text string) func(*apiextensionsv1.ConversionResponse) {
		return func(r *apiextensionsv1.ConversionResponse) { r.ConvertedObjects[0].Raw = []byte(text) }
	}
	uid := k.Get(crdtest.Widgets, "one").Lookup("metadata", "uid").Text()
	for _, test := range []struct {
		name   string
		modify func(*apiextensionsv1.ConversionResponse)
		want   string
	}{
		{"another uid", func(r *apiextensionsv1.ConversionResponse) { r.UID = "x" }, `expected response.uid=`},
		{"failure", func(r *apiextensionsv1.ConversionResponse) {
			r.Result = metav1.Status{Status: "Failure", Message: "conversion failed"}
		}, "failed: conversion failed"},
		{"no status", func(r *apiextensionsv1.ConversionResponse) { r.Result = metav1.Status{} }, "response.result.status was '', not 'Success'"},
		{"too few objects", func(r *apiextensionsv1.ConversionResponse) { r.ConvertedObjects = nil }, "returned 0 objects, expected 1"},
		{"too many objects", func(r *apiextensionsv1.ConversionResponse) {
			r.ConvertedObjects = append(r.ConvertedObjects, r.ConvertedObjects...)
		}, "returned 2 objects, expected 1"},
		{"another version", raw(`{"apiVersion":"example.com/v1","kind":"Widget","metadata":{"name":"one","uid":"` + uid + `"}}`), "returned invalid object at index 0: invalid groupVersion (expected example.com/v2, received example.com/v1)"},
		{"another kind", raw(`{"apiVersion":"example.com/v2","kind":"Gadget","metadata":{"name":"one","uid":"` + uid + `"}}`), "returned invalid object at index 0: invalid kind (expected Widget, received Gadget)"},
		{"no object", raw(`"text"`), "returned invalid object at index 0: expected an object, received a string"},
		{"another name", raw(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"two","uid":"` + uid + `"}}`), "must have the same name: one != two"},
		{"another object", raw(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one","uid":"x"}}`), "must have the same UID"},
		{"invalid label key", raw(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one","uid":"` + uid + `","labels":{"a b":"c"}}}`), "metadata.labels: Invalid value"},
		{"invalid label value", raw(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one","uid":"` + uid + `","labels":{"a":1}}}`), "metadata.labels[a] must be a string"},
	} {
		p.Modify(test.modify)
		_, err := k.Served("v2", "one")
		if status := (*apierrors.StatusError)(nil); !errors.As(err, &status) || status.ErrStatus.Code != 500 || status.ErrStatus.Reason != "" || !strings.HasPrefix(err.Error(), "conversion webhook for example.com/v1, Kind=Widget ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: error = %v, want %q", test.name, err, test.want)
		}
	}
	p.Modify(nil)
	if doc, err := k.Served("v2", "one"); err != nil || doc.Get("sizes").Text() != "1" {
		t.Errorf("after the webhook was fixed: Served(v2) = %v, %v, want sizes: 1", doc, err)
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
		t.Errorf("Served(v2) = %v, %v; want the webhook's labels and annotations, and otherwise unchanged metadata", doc, err)
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

// TestWebhookV1beta1Reviews: a webhook whose conversionReviewVersions list v1beta1 before v1 receives v1beta1
// ConversionReviews, and its response may omit the uid.
func TestWebhookV1beta1Reviews(t *testing.T) {
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
		t.Errorf("stored object = %v, want size: 3", stored)
	}
	if got := p.Version.Load(); got == nil || *got != "apiextensions.k8s.io/v1beta1" {
		t.Errorf("version of the review = %v, want v1beta1", got)
	}
	p.Modify(func(r *apiextensionsv1.ConversionResponse) {
		r.Result = metav1.Status{Status: metav1.StatusFailure, Message: "rejected by the test"}
	})
	if err := apply("4"); err == nil || !strings.Contains(err.Error(), "rejected by the test") {
		t.Errorf("apply() = %v, want the webhook's message", err)
	}
}
