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

// The tests in this file run each stage of the write pipeline alone, on a constructed result of the preceding stage.

const configMap = `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c","namespace":"default"%s},"data":{"a":"1"}}`

func parse(t testing.TB, text string) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// newTestWrite returns a write with the given body to a resource or subresource in the namespace default.
func (r *Registry) newTestWrite(t testing.TB, resource, subresource, name, body string) *write {
	t.Helper()
	request := r.request(t, resource, "default", name, body)
	endpoint, err := r.Endpoint(request.Endpoint.Kind, request.Endpoint.Version, subresource)
	if err != nil {
		t.Fatal(err)
	}
	request.Endpoint = endpoint
	return r.newWrite(request, verb{})
}

// TestDecode checks that bodies are split into the object, managedFields and resourceVersion, and that a body of another kind is
// a 400.
func TestDecode(t *testing.T) {
	o := open(t, Options{})
	for _, test := range []struct {
		name, body string
		want       string // the document, managedFields and resourceVersion, or a part of the error
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
			t.Errorf("decodeObject() of a body, %s: got %s, want %s", test.name, got, test.want)
		}
	}
}

// TestFieldValidation checks that unknown fields cause warnings, an error or neither, depending on FieldValidation.
func TestFieldValidation(t *testing.T) {
	o := open(t, Options{})
	for validation, want := range map[FieldValidation]string{Warn: `[unknown field "x"] <nil>`, Ignore: `[] <nil>`,
		Strict: `[] ConfigMap in version "v1" cannot be handled as a ConfigMap: strict decoding error: unknown field "x"`} {
		var warnings []string
		request := o.request(t, "configmaps", "default", "c", `{"x":1}`)
		request.FieldValidation, request.Warn = validation, func(text string) { warnings = append(warnings, text) }
		_, err := request.decodeObject()
		if got := fmt.Sprint(warnings, " ", err); got != want {
			t.Errorf("decodeObject() with FieldValidation %d: got warnings and error %s, want %s", validation, got, want)
		}
	}
}

// TestLoad checks that load returns the live object with its managed fields entries, and no object if it does not exist.
func TestLoad(t *testing.T) {
	o := open(t, Options{})
	w := o.newTestWrite(t, "configmaps", "", "c", "")
	live, err := w.load(t.Context())
	if err != nil || live.object != nil || live.operation() != admission.Create || live.revision() != "" {
		t.Errorf("load() of an object that does not exist: got %+v, %v, want no object and no error", live, err)
	}
	if _, err := o.Create(t.Context(), o.request(t, "configmaps", "default", "", fmt.Sprintf(configMap, ""))); err != nil {
		t.Fatal(err)
	}
	live, err = w.load(t.Context())
	if err != nil || live.operation() != admission.Update || live.revision() == "" || live.stored.Lookup("data", "a").Text() != "1" || len(live.current.Entries) != 1 {
		t.Errorf("load(): got %+v, %v, want the object with one managed fields entry", live, err)
	}
	for precondition, want := range map[Existence]bool{ExistenceAny: true, MustExist: true, MustNotExist: false} {
		w.Precondition = precondition
		if err := w.checkPrecondition(live); (err == nil) != want {
			t.Errorf("checkPrecondition() of an existing object, precondition %d = %v; success = %v, want %v", precondition, err, err == nil, want)
		}
	}
}

// TestMerge checks the result of update, patch and apply on the same live object, with its managed fields.
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
		data  string // the expected data of the merged object, or a part of the expected error
		owned string // the expected fieldsV1 of the field manager "other"
	}{
		{"update", update, `{"metadata":{"name":"c"},"data":{"a":"1","b":"2"}}`, `{"a":"1","b":"2"}`, `{"f:data":{"f:b":{}}}`},
		{"update with a stale version", update, `{"metadata":{"name":"c","resourceVersion":"1"}}`, "the object has been modified", ""},
		{"update of another object", update, `{"metadata":{"name":"c","uid":"x"}}`, "Precondition failed: UID in precondition: x", ""},
		{"patch", patch, `{"data":{"a":null,"b":"2"}}`, `{"b":"2"}`, `{"f:data":{"f:b":{}}}`},
		{"patch of the name", patch, `{"metadata":{"name":"d"}}`, "does not match the name on the URL", ""},
		{"apply", applied, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"1","b":"2"}}`, `{"a":"1","b":"2"}`, `{"f:data":{"f:a":{},"f:b":{}}}`},
		{"apply in conflict", applied, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"c"},"data":{"a":"2"}}`, `conflict with "tester"`, ""},
	} {
		w := o.newTestWrite(t, "configmaps", "", "c", test.body)
		w.Manager = "other"
		live, err := w.load(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		before := live.current.Document.JSON()
		m, err := test.merge(w, live, test.body)
		switch {
		case err != nil && (test.owned != "" || !strings.Contains(err.Error(), test.data)):
			t.Errorf("%s: got error %v, want %s", test.name, err, test.data)
		case err == nil && (m.object.Document.Get("data").JSON() != test.data || ownedBy(m.object.Entries, "other") != test.owned):
			t.Errorf("%s: got data %s, and manager \"other\" owns %s; want %s and %s", test.name, m.object.Document.Get("data").JSON(), ownedBy(m.object.Entries, "other"), test.data, test.owned)
		}
		if live.current.Document.JSON() != before {
			t.Errorf("%s: merge modified the live object, want it unchanged", test.name)
		}
	}
}

// ownedBy returns fieldsV1 of the first managed fields entry of a field manager; "" if there is none.
func ownedBy(entries []apply.Entry, manager string) string {
	if i := slices.IndexFunc(entries, func(e apply.Entry) bool { return e.Manager == manager }); i >= 0 {
		return entries[i].FieldsV1
	}
	return ""
}

// labeler is a mutating admission plugin that sets the label l, and returns an error for objects with data.reject.
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

// TestMutate checks that plugins receive the object with defaults, that their changes are stored without a field manager, and
// that an error of a plugin that is not an API status becomes a 500.
func TestMutate(t *testing.T) {
	o := open(t, Options{Admission: admission.NewChain(labeler{})})
	w := o.newTestWrite(t, "services", "", "s", "")
	live := &loaded{}
	m := merged{object: apply.Object{Document: parse(t, `{"apiVersion":"v1","kind":"Service","metadata":{"name":"s","namespace":"default"},"spec":{"ports":[{"port":80}]}}`)}}
	a, err := w.mutate(t.Context(), live, m, w.Endpoint.admission.Plan(live.operation()))
	if err != nil {
		t.Fatal(err)
	}
	if doc := a.object.Document; doc.Lookup("metadata", "labels", "l").Text() != "1" || doc.Lookup("spec", "type").Text() != "ClusterIP" || !a.mutated || len(a.object.Entries) != 0 {
		t.Errorf("mutate(): got %s, mutated %v, want the label l, the default type, mutated and no managed fields", doc.JSON(), a.mutated)
	}
	m.object.Document = m.object.Document.With("data", parse(t, `{"reject":"1"}`))
	w = o.newTestWrite(t, "configmaps", "", "s", "")
	m.object.Document = m.object.Document.Without("spec").With("kind", document.NewString("ConfigMap"))
	if _, err := w.mutate(t.Context(), live, m, w.Endpoint.admission.Plan(live.operation())); !apierrors.IsInternalError(err) {
		t.Errorf("mutate() with a plugin that fails: got error %v, want a 500", err)
	}
}

// TestPrepare checks that a new object gets a uid and a creationTimestamp, and that an update retains the creationTimestamp and
// the reset fields of the live object.
func TestPrepare(t *testing.T) {
	now := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	o := open(t, Options{Now: func() time.Time { return now }})
	w := o.newTestWrite(t, "replicationcontrollers", "", "r", "")
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
		t.Errorf("prepare() of a new object: got %s, want a new uid and creation time, no deletionTimestamp, and an initial status", p.object.Document.JSON())
	}
	live := &loaded{stored: p.object.Document, current: p.object}
	live.object = unstoredObject(t, o, p.object)
	p, err = w.prepare(live, merged{object: object}, &admitted{object: object})
	if err != nil {
		t.Fatal(err)
	}
	if got := p.object.Document; got.Lookup("metadata", "uid").Text() != "sent" || got.Get("status").JSON() != `{"replicas":0}` ||
		got.Lookup("metadata", "creationTimestamp").Text() != "2026-01-02T03:04:05Z" {
		t.Errorf("prepare() of an update: got %s, want the live status and creation time, and the sent uid, which validation rejects", got.JSON())
	}
}

// unstoredObject returns an object at revision 5 that is not in the store.
func unstoredObject(t testing.TB, o *Registry, object apply.Object) *watchcache.Object {
	t.Helper()
	w := o.newTestWrite(t, "replicationcontrollers", "", "r", "")
	unstored, err := o.Cache.Draft(w.key(), encodeJSON(object), 5)
	if err != nil {
		t.Fatal(err)
	}
	return unstored
}

// TestValidate checks that validate rejects an invalid name and an invalid field manager in managedFields, and accepts a valid
// object.
func TestValidate(t *testing.T) {
	o := open(t, Options{})
	w := o.newTestWrite(t, "configmaps", "", "C", "")
	doc := parse(t, `{"apiVersion":"v1","kind":"ConfigMap","metadata":{"name":"C","namespace":"default","uid":"u"}}`)
	a := &admitted{attributes: admission.NewRecord(admission.Attributes{}, nil)}
	p := &prepared{object: apply.Object{Document: doc}, validated: doc, unprepared: doc}
	if err := w.validate(&loaded{}, a, p); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.name: Invalid value") {
		t.Errorf("validate() of an invalid name: got %v, want a 422 about metadata.name", err)
	}
	valid := doc.With("metadata", doc.Get("metadata").With("name", document.NewString("c")))
	p = &prepared{object: apply.Object{Document: valid, Entries: []apply.Entry{{Manager: strings.Repeat("m", 200)}}}, validated: valid, unprepared: valid}
	if err := w.validate(&loaded{}, a, p); !apierrors.IsInvalid(err) || !strings.Contains(err.Error(), "metadata.managedFields[0].manager") {
		t.Errorf("validate() of an invalid field manager: got %v, want a 422 about managedFields[0].manager", err)
	}
	p.object.Entries = nil
	if err := w.validate(&loaded{}, a, p); err != nil {
		t.Errorf("validate() of a valid object: got %v, want no error", err)
	}
}

// TestCommit checks that a commit fails if the object or a condition of a plugin does not have the expected revision, and which
// of these conflicts are retried.
func TestCommit(t *testing.T) {
	o := open(t, Options{})
	w := o.newTestWrite(t, "configmaps", "", "c", "")
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
		t.Fatalf("commit() of a new object: got %+v, %v, want a created object with a revision", result, err)
	}
	_, err = w.commit(t.Context(), &loaded{}, a, p) // fails, because the preceding commit created the object
	if !w.retries(t.Context(), err) || !apierrors.IsAlreadyExists(w.finalError(err)) {
		t.Errorf("commit() of an object that exists: got %v, want a conflict that is retried, or is a 409 if it is final", err)
	}
	w.verb.conflictIsFinal = true
	if w.retries(t.Context(), err) {
		t.Error("retries() of a conflict with conflictIsFinal: got true, want false")
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
		t.Errorf("commit() after the namespace changed: got %v, want a conflict about the namespace that is retried", err)
	}
	w.DryRun = true
	result, err = w.commit(t.Context(), live, &admitted{}, p)
	if err != nil || result.Revision != 0 || result.Object == nil {
		t.Errorf("commit() in a dry run: got %+v, %v, want an object without a revision", result, err)
	}
}
