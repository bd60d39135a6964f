package registry

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// These tests run each stage of the pipeline alone, with a handmade value of the stage before it.

const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"%s},"data":{"a":"1"}}`

func parse(t testing.TB, text string) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// writeTo returns a write to an endpoint with a body.
func (r *Registry) writeTo(t testing.TB, resource, subresource, name, body string) *write {
	t.Helper()
	request := r.request(t, resource, "default", name, body)
	endpoint, err := r.Endpoint(request.Endpoint.Kind, request.Endpoint.Version, subresource)
	if err != nil {
		t.Fatal(err)
	}
	request.Endpoint = endpoint
	return r.newWrite(request, verb{})
}

// TestDecode: bodies are split into the object, managedFields and resourceVersion; a body of another kind is a 400.
func TestDecode(t *testing.T) {
	o := open(t, Options{})
	for _, test := range []struct {
		name, body string
		want       string // document, managedFields and resourceVersion, or the error
	}{
		{"whole", fmt.Sprintf(configMap, `,"resourceVersion":"7","managedFields":[{}]`),
			`{"apiVersion":"v1","data":{"a":"1"},"kind":"ConfigMap","metadata":{"name":"c","namespace":"default"}} [{}] "7"`},
		{"without a type", `{"metadata":{"name":"c"}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}  ""`},
		{"null", `null`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{}}  ""`},
		{"unknown fields", `{"metadata":{"name":"c"},"spec":{}}`, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"}}  ""`},
		{"another kind", `{"kind":"Secret"}`, `cannot be handled as a ConfigMap: expected kind ConfigMap and apiVersion v1`},
		{"another version", `{"apiVersion":"v2"}`, `does not match the expected API version (v1)`},
		{"a list", `[]`, `expected an object, received a list`},
		{"no JSON", `{`, `the body can't be read`},
		{"metadata of another type", `{"metadata":7}`, `metadata: expected a map, received a number`},
		{"managedFields of another type", `{"metadata":{"managedFields":7}}`, `metadata.managedFields: expected a list, received a number`},
		{"a value of another type", `{"data":{"a":{}}}`, `cannot be handled as a ConfigMap`},
	} {
		d, err := o.request(t, "configmaps", "default", "c", test.body).decodeObject()
		got := fmt.Sprintf("%s %s %q", d.document.JSON(), d.managed.JSON(), d.resourceVersion)
		if err != nil {
			got = err.Error()
		}
		if err == nil && got != test.want || err != nil && (!apierrors.IsBadRequest(err) || !strings.Contains(got, test.want)) {
			t.Errorf("%s: received %s, want %s", test.name, got, test.want)
		}
	}
}

// TestFieldValidation: unknown fields are warnings, an error, or ignored.
func TestFieldValidation(t *testing.T) {
	o := open(t, Options{})
	for validation, want := range map[FieldValidation]string{Warn: `[unknown field "x"] <nil>`, Ignore: `[] <nil>`,
		Strict: `[] ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "x"`} {
		var warnings []string
		request := o.request(t, "configmaps", "default", "c", `{"x":1}`)
		request.FieldValidation, request.Warn = validation, func(text string) { warnings = append(warnings, text) }
		_, err := request.decodeObject()
		if got := fmt.Sprint(warnings, " ", err); got != want {
			t.Errorf("%d: received %s, want %s", validation, got, want)
		}
	}
}

// TestLoad: loads the live object with its managed fields entries; nil if it does not exist.
func TestLoad(t *testing.T) {
	o := open(t, Options{})
	w := o.writeTo(t, "configmaps", "", "c", "")
	live, err := w.load(t.Context())
	if err != nil || live.object != nil || live.operation() != admission.Create || live.revision() != "" {
		t.Errorf("received %+v, %v for no object", live, err)
	}
	if _, err := o.Create(t.Context(), o.request(t, "configmaps", "default", "", fmt.Sprintf(configMap, ""))); err != nil {
		t.Fatal(err)
	}
	live, err = w.load(t.Context())
	if err != nil || live.operation() != admission.Update || live.revision() == "" || live.stored.Lookup("data", "a").Text() != "1" || len(live.current.Entries) != 1 {
		t.Errorf("received %+v, %v", live, err)
	}
	for precondition, want := range map[Existence]bool{ExistenceAny: true, MustExist: true, MustNotExist: false} {
		w.Precondition = precondition
		if err := w.checkPrecondition(live); (err == nil) != want {
			t.Errorf("precondition %d of an object that exists: %v", precondition, err)
		}
	}
}

// TestMerge: the result of each verb for the same live object, with its managed fields.
func TestMerge(t *testing.T) {
	o := open(t, Options{})
	if _, err := o.Create(t.Context(), o.request(t, "configmaps", "default", "", fmt.Sprintf(configMap, ""))); err != nil {
		t.Fatal(err)
	}
	type merge func(w *write, live *loaded, body string) (merged, error)
	update := func(w *write, live *loaded, body string) (merged, error) {
		d, err := w.decodeObject()
		if err != nil {
			return merged{}, err
		}
		return w.mergeUpdate(t.Context(), live, d)
	}
	patch := func(w *write, live *loaded, body string) (merged, error) {
		return w.mergePatch(live, MergePatch, parse(t, body))
	}
	applied := func(w *write, live *loaded, body string) (merged, error) {
		d, err := w.decodeConfiguration(live.current.Document)
		if err != nil {
			return merged{}, err
		}
		return w.mergeApply(t.Context(), live, d)
	}
	for _, test := range []struct {
		name  string
		merge merge
		body  string
		data  string // of the merged object, or the error
		owned string // by "other"
	}{
		{"update", update, `{"metadata":{"name":"c"},"data":{"a":"1","b":"2"}}`, `{"a":"1","b":"2"}`, `{"f:data":{"f:b":{}}}`},
		{"update with a stale version", update, `{"metadata":{"name":"c","resourceVersion":"1"}}`, "the object has been modified", ""},
		{"update of another object", update, `{"metadata":{"name":"c","uid":"x"}}`, "Precondition failed: UID in precondition: x", ""},
		{"patch", patch, `{"data":{"a":null,"b":"2"}}`, `{"b":"2"}`, `{"f:data":{"f:b":{}}}`},
		{"patch of the name", patch, `{"metadata":{"name":"d"}}`, "does not match the name on the URL", ""},
		{"apply", applied, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"2"}}`, `{"a":"1","b":"2"}`, `{"f:data":{"f:a":{},"f:b":{}}}`},
		{"apply in conflict", applied, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"2"}}`, `conflict with "tester"`, ""},
	} {
		w := o.writeTo(t, "configmaps", "", "c", test.body)
		w.Manager = "other"
		live, err := w.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before := live.current.Document.JSON()
		m, err := test.merge(w, live, test.body)
		switch {
		case err != nil && (test.owned != "" || !strings.Contains(err.Error(), test.data)):
			t.Errorf("%s: received %v, want %s", test.name, err, test.data)
		case err == nil && (m.object.Document.Get("data").JSON() != test.data || ownedBy(m.object.Entries, "other") != test.owned):
			t.Errorf("%s: received %s, other owns %s; want %s, %s", test.name, m.object.Document.Get("data").JSON(), ownedBy(m.object.Entries, "other"), test.data, test.owned)
		}
		if live.current.Document.JSON() != before {
			t.Errorf("%s changed the live object", test.name)
		}
	}
}

func ownedBy(entries []apply.Entry, manager string) string {
	if i := slices.IndexFunc(entries, func(e apply.Entry) bool { return e.Manager == manager }); i >= 0 {
		return entries[i].FieldsV1
	}
	return ""
}

// labeler is a mutating plugin that sets a label.
type labeler struct{ admission.MutatingOnly }

func (labeler) Name() string { return "Labeler" }

func (labeler) Handles(admission.Operation, admission.Resource) admission.Phase {
	return admission.Mutating
}

func (labeler) Admit(_ context.Context, a *admission.Attributes) error {
	if a.Object.Lookup("data", "reject").Text() != "" {
		return errors.New("broken plugin")
	}
	metadata := a.Object.Get("metadata")
	a.Object = a.Object.With("metadata", metadata.With("labels", document.NewMap(document.Field{Name: "l", Value: document.NewString("1")})))
	return nil
}

// TestMutate: the object has defaults when plugins see it; their changes are taken over, without an owner; an error of a
// plugin that is no API status is a 500.
func TestMutate(t *testing.T) {
	o := open(t, Options{Admission: admission.NewChain(labeler{})})
	w := o.writeTo(t, "services", "", "s", "")
	live := &loaded{}
	m := merged{object: apply.Object{Document: parse(t, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"default"},"spec":{"ports":[{"port":80}]}}`)}}
	a, err := w.mutate(t.Context(), live, m, w.Endpoint.admission.Plan(live.operation()))
	if err != nil {
		t.Fatal(err)
	}
	if doc := a.object.Document; doc.Lookup("metadata", "labels", "l").Text() != "1" || doc.Lookup("spec", "type").Text() != "ClusterIP" || !a.mutated || len(a.object.Entries) != 0 {
		t.Errorf("received %s, %v", doc.JSON(), a.mutated)
	}
	m.object.Document = m.object.Document.With("data", parse(t, `{"reject":"1"}`))
	w = o.writeTo(t, "configmaps", "", "s", "")
	m.object.Document = m.object.Document.Without("spec").With("kind", document.NewString("ConfigMap"))
	if _, err := w.mutate(t.Context(), live, m, w.Endpoint.admission.Plan(live.operation())); !apierrors.IsInternalError(err) {
		t.Errorf("received %v, want a 500", err)
	}
}

// TestPrepare: a new object gets its identity; an update keeps it, and the fields that the endpoint resets.
func TestPrepare(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := open(t, Options{Now: func() time.Time { return now }})
	w := o.writeTo(t, "replicationcontrollers", "", "r", "")
	sent := `{"apiVersion":"v1","kind":"ReplicationController","metadata":{"name":"r","namespace":"default","uid":"sent","deletionTimestamp":"2020-01-01T00:00:00Z"},` +
		`"spec":{"replicas":2,"selector":{"a":"b"}},"status":{"replicas":9}}`
	object := apply.Object{Document: parse(t, sent)}
	p, err := w.prepare(&loaded{}, merged{object: object}, &admitted{object: object})
	if err != nil {
		t.Fatal(err)
	}
	metadata := p.object.Document.Get("metadata")
	if metadata.Get("creationTimestamp").Text() != "2026-01-02T03:04:05Z" || metadata.Get("uid").Text() == "sent" || metadata.Get("uid").Text() == "" ||
		!metadata.Get("deletionTimestamp").IsAbsent() || p.object.Document.Get("status").JSON() != `{"replicas":0}` {
		t.Errorf("a new object is %s", p.object.Document.JSON())
	}
	live := &loaded{stored: p.object.Document, current: p.object}
	live.object = draftOf(t, o, p.object)
	p, err = w.prepare(live, merged{object: object}, &admitted{object: object})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.object.Document; got.Lookup("metadata", "uid").Text() != "sent" || got.Get("status").JSON() != `{"replicas":0}` ||
		got.Lookup("metadata", "creationTimestamp").Text() != "2026-01-02T03:04:05Z" {
		t.Errorf("the updated object is %s: expected the live status and creation time, and the sent uid for validation to reject", got.JSON())
	}
}

func draftOf(t testing.TB, o *Registry, object apply.Object) (draft *watchcache.Object) {
	t.Helper()
	w := o.writeTo(t, "replicationcontrollers", "", "r", "")
	draft, err := o.Cache.Draft(w.key(), encodeJSON(object), 5)
	if err != nil {
		t.Fatal(err)
	}
	return draft
}

// TestValidate: errors of the resource's validation follow those that plugins have added.
func TestValidate(t *testing.T) {
	o := open(t, Options{})
	w := o.writeTo(t, "configmaps", "", "C", "")
	doc := parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"C","namespace":"default","uid":"u"}}`)
	a := &admitted{attributes: admission.NewRecord(admission.Attributes{}, nil)}
	p := &prepared{object: apply.Object{Document: doc}, validated: doc, unprepared: doc}
	if err := w.validate(&loaded{}, a, p); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.name: Invalid value") {
		t.Errorf("received %v, want a 422 about the name", err)
	}
	valid := doc.With("metadata", doc.Get("metadata").With("name", document.NewString("c")))
	p = &prepared{object: apply.Object{Document: valid, Entries: []apply.Entry{{Manager: strings.Repeat("m", 200)}}}, validated: valid, unprepared: valid}
	if err := w.validate(&loaded{}, a, p); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.managedFields[0].manager") {
		t.Errorf("received %v, want a 422 about the manager", err)
	}
	p.object.Entries = nil
	if err := w.validate(&loaded{}, a, p); err != nil {
		t.Error(err)
	}
}

// TestCommit: compare-and-swap at the loaded revision, in one transaction with the writes of plugins; which conflicts are
// retried, and which errors are final.
func TestCommit(t *testing.T) {
	o := open(t, Options{})
	w := o.writeTo(t, "configmaps", "", "c", "")
	doc := parse(t, fmt.Sprintf(configMap, ""))
	p := &prepared{object: apply.Object{Document: doc}}
	namespace, err := o.reader.Get(t.Context(), schema.GroupResource{Resource: "namespaces"}, "", "default")
	if err != nil || !namespace.Exists() {
		t.Fatal(namespace, err)
	}
	attributes := admission.NewRecord(admission.Attributes{}, nil)
	attributes.RequireUnchanged(namespace)
	a := &admitted{attributes: attributes}
	result, err := w.commit(t.Context(), &loaded{}, a, p)
	if err != nil || !result.Created || result.Revision == 0 {
		t.Fatalf("received %+v, %v", result, err)
	}
	_, err = w.commit(t.Context(), &loaded{}, a, p) // it exists now
	if !w.retries(t.Context(), err) || !apierrors.IsAlreadyExists(w.finalError(err)) {
		t.Errorf("received %v: expected a conflict that is retried, or else a 409", err)
	}
	w.verb.conflictIsFinal = true
	if w.retries(t.Context(), err) {
		t.Error("a conflict that is the client's is retried")
	}
	live, err := w.load(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Update(t.Context(), o.request(t, "namespaces", "", "default", `{"metadata":{"name":"default","labels":{"a":"b"}}}`)); err != nil {
		t.Fatal(err)
	}
	p.object.Document = doc.With("data", parse(t, `{"a":"2"}`))
	_, err = w.commit(t.Context(), live, a, p)
	var conflict *storage.ConflictError
	if !errors.As(err, &conflict) || conflict.Key == w.key().String() || !w.retries(t.Context(), err) {
		t.Errorf("received %v: expected a conflict about the namespace, which is retried", err)
	}
	w.DryRun = true
	result, err = w.commit(t.Context(), live, &admitted{}, p)
	if err != nil || result.Revision != 0 || result.Object == nil {
		t.Errorf("a dry run: %+v, %v", result, err)
	}
}
