package custom

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/cache/cachetest"
	"github.com/cadastre/cadastre/internal/webhook"
)

// program is a webhook that brings size at v1 to sizes at v2, and back. It spoils what it answers if it is told how.
type program struct {
	*httptest.Server
	calls atomic.Int64
	// version is that of the last review.
	version atomic.Pointer[string]
	spoil   atomic.Pointer[func(*apiextensionsv1.ConversionResponse)]
	// answerAs is what the answer says that it is, if that is not what the question is.
	answerAs atomic.Pointer[metav1.TypeMeta]
}

func newProgram(t *testing.T) *program {
	p := &program{}
	p.Server = httptest.NewTLSServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		p.calls.Add(1)
		text, _ := io.ReadAll(r.Body)
		var review apiextensionsv1.ConversionReview
		if err := json.Unmarshal(text, &review); err != nil {
			http.Error(w, err.Error(), http.StatusBadRequest)
			return
		}
		p.version.Store(&review.APIVersion)
		response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
		for _, object := range review.Request.Objects {
			response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: []byte(convertSize(object.Raw, review.Request.DesiredAPIVersion))})
		}
		if spoil := p.spoil.Load(); spoil != nil {
			(*spoil)(response)
		}
		if as := p.answerAs.Load(); as != nil {
			review.TypeMeta = *as
		}
		review.Request, review.Response = nil, response
		w.Header().Set("Content-Type", "application/json")
		_ = json.NewEncoder(w).Encode(review)
	}))
	t.Cleanup(p.Close)
	return p
}

func (p *program) spoilWith(spoil func(*apiextensionsv1.ConversionResponse)) { p.spoil.Store(&spoil) }

func convertSize(raw []byte, to string) string {
	doc, err := document.ParseJSON(raw)
	if err != nil {
		return err.Error()
	}
	from, into := "size", "sizes"
	if strings.HasSuffix(to, "v1") {
		from, into = into, from
	}
	if v := doc.Get(from); !v.IsAbsent() {
		doc = doc.Without(from).With(into, v)
	}
	return doc.With("apiVersion", document.NewString(to)).JSON()
}

// conversion is what a definition says that is converted by the program.
func (p *program) conversion() string { return p.conversionAt("v1") }

// conversionAt tells which versions of reviews the program knows.
func (p *program) conversionAt(versions string) string {
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: p.Certificate().Raw})
	return fmt.Sprintf(`, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [%s], clientConfig: {url: %q, caBundle: %s}}}`,
		versions, p.URL+"/convert", base64.StdEncoding.EncodeToString(bundle))
}

const twoSizes = `{name: v1, served: true, storage: true, schema: {openAPIV3Schema: {type: object, properties: {size: {type: integer}}}}},
  {name: v2, served: true, storage: false, schema: {openAPIV3Schema: {type: object, properties: {sizes: {type: integer, maximum: 9}}}}}`

// TestWebhook: objects are converted by a program, are merged and checked at the version of the request, and keep
// their owners when the program fails.
func TestWebhook(t *testing.T) {
	p := newProgram(t)
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(twoSizes, p.conversion())
	v2 := k.endpoint("example.com", "v2", "widgets", "")
	apply := func(size string) error {
		r := k.request(v2, "one", `{apiVersion: example.com/v2, kind: Widget, metadata: {name: one, labels: {a: b}}, sizes: `+size+`}`)
		_, err := k.all.Apply(t.Context(), r)
		return err
	}
	if err := apply("3"); err != nil {
		t.Fatal(err)
	}
	stored := k.get("example.com/widgets", "one")
	if stored.Get("size").Text() != "3" || stored.Get("apiVersion").Text() != "example.com/v1" || !stored.Get("sizes").IsAbsent() {
		t.Errorf("it is stored as %v", stored)
	}
	if doc, err := k.shown("v2", "one"); err != nil || doc.Get("sizes").Text() != "3" {
		t.Errorf("%v, %v", doc, err)
	}
	revision := k.revision("one")
	if err := apply("3"); err != nil || k.revision("one") != revision {
		t.Errorf("the same again: %v", err)
	}
	if err := apply("10"); !apierrors.IsInvalid(err) {
		t.Errorf("what v2 forbids: %v", err)
	}
	before := k.owners("one")
	p.Close()
	if err := apply("4"); !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "conversion webhook for example.com/v") {
		t.Errorf("a webhook that is down: %v", err)
	}
	if after := k.owners("one"); after != before || before == "" {
		t.Errorf("owners were %s and are %s", before, after)
	}
	// Whoever is at the version that is stored needs no webhook, and takes nothing from those who are not.
	if err := k.merge(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"size":5}`); err != nil {
		t.Errorf("a write at the stored version: %v", err)
	}
	if after := k.owners("one"); !strings.Contains(after, `"apiVersion":"example.com/v2","fieldsType":"FieldsV1","fieldsV1":{"f:metadata":{"f:labels":{"f:a":{}}},"f:sizes":{}}`) ||
		!strings.Contains(after, `"apiVersion":"example.com/v1","fieldsType":"FieldsV1","fieldsV1":{"f:size":{}}`) {
		t.Errorf("owners at the other version are gone: %s", after)
	}
}

// TestWebhookPrunes: what a webhook makes that the schema does not have is dropped.
func TestWebhookPrunes(t *testing.T) {
	p := newProgram(t)
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(twoSizes, p.conversion())
	k.mustCreate("v1", "one", ", size: 1")
	p.spoilWith(func(r *apiextensionsv1.ConversionResponse) {
		r.ConvertedObjects[0].Raw = []byte(strings.Replace(string(r.ConvertedObjects[0].Raw), `"sizes"`, `"colour":"red","sizes"`, 1))
	})
	if doc, err := k.shown("v2", "one"); err != nil || doc.Get("sizes").Text() != "1" || !doc.Get("colour").IsAbsent() {
		t.Errorf("received %v, %v", doc, err)
	}
}

// TestWebhookReviews: an answer of another kind than ConversionReview, or at another version than it was asked at, is none.
func TestWebhookReviews(t *testing.T) {
	p := newProgram(t)
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(twoSizes, p.conversion())
	k.mustCreate("v1", "one", ", size: 1")
	for as, want := range map[metav1.TypeMeta]string{
		{}: "expected webhook response of apiextensions.k8s.io/v1, Kind=ConversionReview, got /, Kind=",
		{APIVersion: "apiextensions.k8s.io/v1beta1", Kind: "ConversionReview"}: "unknown conversion",
		{APIVersion: "example.com/v1", Kind: "Widget"}:                         "no kind",
	} {
		p.answerAs.Store(&as)
		if _, err := k.shown("v2", "one"); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: received %v, expected %s", as, err, want)
		}
	}
}

// waiting is a webhook that does not answer.
type waiting struct{ until time.Time }

func (w *waiting) Call(ctx context.Context, _ *webhook.Target, _, _ runtime.Object) error {
	w.until, _ = ctx.Deadline()
	return context.DeadlineExceeded
}

// TestWebhookTime: a webhook has thirty seconds, and the client hears that it took longer.
func TestWebhookTime(t *testing.T) {
	k := open(t, cachetest.OpenStore(t))
	w := &waiting{}
	k.controller.Webhooks = w
	k.defineWidgets(twoSizes, newProgram(t).conversion())
	k.mustCreate("v1", "one", ", size: 1")
	before := time.Now()
	_, err := k.shown("v2", "one")
	if !apierrors.IsInternalError(err) || !strings.Contains(err.Error(), "conversion webhook for example.com/v1, Kind=Widget failed: context deadline exceeded") {
		t.Errorf("received %v", err)
	}
	if given := w.until.Sub(before); given < 29*time.Second || given > 40*time.Second {
		t.Errorf("the webhook has %s, expected 30s", given)
	}
}

// TestWebhookAnswers: what a webhook may not answer is refused, with the words of Kubernetes.
func TestWebhookAnswers(t *testing.T) {
	p := newProgram(t)
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(twoSizes, p.conversion())
	k.mustCreate("v1", "one", ", size: 1")
	raw := func(text string) func(*apiextensionsv1.ConversionResponse) {
		return func(r *apiextensionsv1.ConversionResponse) { r.ConvertedObjects[0].Raw = []byte(text) }
	}
	uid := k.get("example.com/widgets", "one").Lookup("metadata", "uid").Text()
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
		p.spoilWith(test.spoil)
		_, err := k.shown("v2", "one")
		if status := (*apierrors.StatusError)(nil); !errors.As(err, &status) || status.ErrStatus.Code != 500 || status.ErrStatus.Reason != "" || !strings.HasPrefix(err.Error(), "conversion webhook for example.com/v1, Kind=Widget ") || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%s: %v, want %q", test.name, err, test.want)
		}
	}
	p.spoil.Store(nil)
	if doc, err := k.shown("v2", "one"); err != nil || doc.Get("sizes").Text() != "1" {
		t.Errorf("a webhook that has been mended: %v, %v", doc, err)
	}
	keep := func(r *apiextensionsv1.ConversionResponse) {
		r.ConvertedObjects[0].Raw = []byte(`{"apiVersion":"example.com/v2","kind":"Widget","metadata":{"name":"one","uid":"` + uid + `","finalizers":["x/y"],"labels":{"a":"b"}},"sizes":1}`)
	}
	p.spoilWith(keep)
	if err := k.merge(k.endpoint("example.com", "v1", "widgets", ""), "one", `{"size":2}`); err != nil {
		t.Fatal(err)
	}
	doc, err := k.shown("v2", "one")
	if err != nil || doc.Lookup("metadata", "labels", "a").Text() != "b" || !doc.Lookup("metadata", "finalizers").IsAbsent() ||
		!doc.Lookup("metadata", "annotations").IsAbsent() || doc.Lookup("metadata", "creationTimestamp").IsAbsent() {
		t.Errorf("a webhook may change labels and annotations, and no other metadata: %v, %v", doc, err)
	}
}

// revision returns that of a widget.
func (k *kit) revision(name string) string {
	k.Helper()
	doc, err := k.shown("v1", name)
	if err != nil {
		k.Fatal(err)
	}
	return doc.Lookup("metadata", "resourceVersion").Text()
}

// owners returns the managedFields of a widget.
func (k *kit) owners(name string) string {
	k.Helper()
	doc, err := k.shown("v1", name)
	if err != nil {
		k.Fatal(err)
	}
	return doc.Lookup("metadata", "managedFields").JSON()
}

// TestWebhookOfOldReviews: a program that only knows v1beta1 is asked in that, and may leave out what was never looked
// at there.
func TestWebhookOfOldReviews(t *testing.T) {
	p := newProgram(t)
	k := open(t, cachetest.OpenStore(t))
	k.defineWidgets(twoSizes, p.conversionAt("v0, v1beta1, v1"))
	v2 := k.endpoint("example.com", "v2", "widgets", "")
	apply := func(size string) error {
		r := k.request(v2, "one", `{apiVersion: example.com/v2, kind: Widget, metadata: {name: one}, sizes: `+size+`}`)
		_, err := k.all.Apply(t.Context(), r)
		return err
	}
	p.spoilWith(func(r *apiextensionsv1.ConversionResponse) { r.UID = "" })
	if err := apply("3"); err != nil {
		t.Fatal(err)
	}
	if stored := k.get("example.com/widgets", "one"); stored.Get("size").Text() != "3" {
		t.Errorf("it is stored as %v", stored)
	}
	if got := p.version.Load(); got == nil || *got != "apiextensions.k8s.io/v1beta1" {
		t.Errorf("expected to be asked at v1beta1, received %v", got)
	}
	p.spoilWith(func(r *apiextensionsv1.ConversionResponse) {
		r.Result = metav1.Status{Status: metav1.StatusFailure, Message: "not today"}
	})
	if err := apply("4"); err == nil || !strings.Contains(err.Error(), "not today") {
		t.Errorf("received %v", err)
	}
}
