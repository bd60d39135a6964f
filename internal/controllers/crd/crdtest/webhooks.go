package crdtest

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
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
)

// Webhooks is a fake client of conversion webhooks. It converts like [ConversionServer], without a network, and records
// the number of objects of each call. Safe for concurrent use.
type Webhooks struct {
	mu      sync.Mutex
	sizes   []int
	fail    func(ctx context.Context, url string) error
	respond func(names []string, response *apiextensionsv1.ConversionResponse) error
}

// Call implements crd.Webhooks: it converts the objects of the review, unless a function set by Fail or Respond changes
// the result.
func (w *Webhooks) Call(ctx context.Context, target *webhookclient.Target, review, answer runtime.Object) error {
	request := review.(*apiextensionsv1.ConversionReview).Request
	w.mu.Lock()
	w.sizes = append(w.sizes, len(request.Objects))
	fail, respond := w.fail, w.respond
	w.mu.Unlock()
	if fail != nil {
		if err := fail(ctx, target.URL); err != nil {
			return err
		}
	}
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
	if respond == nil {
		return nil
	}
	return respond(names, response)
}

// Fail sets a function that returns the error of each further call, and resets the recorded calls. A nil function makes
// all calls succeed.
func (w *Webhooks) Fail(fail func(ctx context.Context, url string) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail, w.respond, w.sizes = fail, nil, nil
}

// Respond sets a function that may change each further response or fail the call, and resets the recorded calls. names
// are the names of the objects in the call.
func (w *Webhooks) Respond(respond func(names []string, response *apiextensionsv1.ConversionResponse) error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail, w.respond, w.sizes = nil, respond, nil
}

// Reject sets a function that fails each further call if one of the given names is the name of an object in the call.
func (w *Webhooks) Reject(rejected ...string) {
	w.Respond(func(names []string, response *apiextensionsv1.ConversionResponse) error {
		if slices.ContainsFunc(names, func(name string) bool { return slices.Contains(rejected, name) }) {
			response.Result = metav1.Status{Status: metav1.StatusFailure, Message: "rejected by the test"}
		}
		return nil
	})
}

// CallSizes returns the number of objects of each call so far.
func (w *Webhooks) CallSizes() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return slices.Clone(w.sizes)
}

// TakeCallSizes returns the number of objects of each call so far, and resets the recorded calls.
func (w *Webhooks) TakeCallSizes() []int {
	w.mu.Lock()
	defer w.mu.Unlock()
	sizes := w.sizes
	w.sizes = nil
	return sizes
}

// RefuseConnection is an argument for Webhooks.Fail that simulates a refused connection.
func RefuseConnection(context.Context, string) error { return errors.New("connection refused") }

// BlockUntilDone is an argument for Webhooks.Fail that simulates a webhook without response: it blocks until the context ends.
func BlockUntilDone(ctx context.Context, _ string) error { <-ctx.Done(); return ctx.Err() }

// ConversionBy returns the JSON member conversion of a CRD's spec, with a webhook at a path of hooks.example.com. Use it
// with [Webhooks], which makes no connection.
func ConversionBy(path string) string {
	return `"conversion":{"strategy":"Webhook","webhook":{"conversionReviewVersions":["v1"],"clientConfig":{"url":"https://hooks.example.com/` + path + `"}}}`
}

// ConversionServer is a conversion webhook that renames the field size of v1 to sizes in v2, and back.
type ConversionServer struct {
	*httptest.Server
	// Calls is the number of reviews received.
	Calls atomic.Int64
	// Version is the apiVersion of the last review.
	Version atomic.Pointer[string]
	// AnswerAs, if set, replaces the apiVersion and kind of responses.
	AnswerAs atomic.Pointer[metav1.TypeMeta]
	modify   atomic.Pointer[func(*apiextensionsv1.ConversionResponse)]
}

// NewConversionServer starts a server that is stopped at the end of the test.
func NewConversionServer(t *testing.T) *ConversionServer {
	s := &ConversionServer{}
	s.Server = httptest.NewTLSServer(http.HandlerFunc(s.serve))
	t.Cleanup(s.Close)
	return s
}

func (s *ConversionServer) serve(w http.ResponseWriter, r *http.Request) {
	s.Calls.Add(1)
	text, _ := io.ReadAll(r.Body)
	var review apiextensionsv1.ConversionReview
	if err := json.Unmarshal(text, &review); err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	s.Version.Store(&review.APIVersion)
	response := &apiextensionsv1.ConversionResponse{UID: review.Request.UID, Result: metav1.Status{Status: metav1.StatusSuccess}}
	for _, object := range review.Request.Objects {
		response.ConvertedObjects = append(response.ConvertedObjects, runtime.RawExtension{Raw: []byte(convertSize(object.Raw, review.Request.DesiredAPIVersion))})
	}
	if modify := s.modify.Load(); modify != nil {
		(*modify)(response)
	}
	if as := s.AnswerAs.Load(); as != nil {
		review.TypeMeta = *as
	}
	review.Request, review.Response = nil, response
	w.Header().Set("Content-Type", "application/json")
	_ = json.NewEncoder(w).Encode(review)
}

// Modify sets a function that changes all further responses; nil removes it.
func (s *ConversionServer) Modify(modify func(*apiextensionsv1.ConversionResponse)) {
	if modify == nil {
		s.modify.Store(nil)
		return
	}
	s.modify.Store(&modify)
}

// Conversion returns the YAML member conversion of a CRD's spec, with a leading comma: the server is the webhook and
// supports ConversionReview v1.
func (s *ConversionServer) Conversion() string { return s.ConversionAt("v1") }

// ConversionAt is like Conversion, with the given conversionReviewVersions, separated by commas.
func (s *ConversionServer) ConversionAt(versions string) string {
	bundle := pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: s.Certificate().Raw})
	return fmt.Sprintf(`, conversion: {strategy: Webhook, webhook: {conversionReviewVersions: [%s], clientConfig: {url: %q, caBundle: %s}}}`,
		versions, s.URL+"/convert", base64.StdEncoding.EncodeToString(bundle))
}

// convertSize converts a widget of [TwoSizes] to the apiVersion to. It returns the object in JSON, or the text of the
// error if raw is not JSON.
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
