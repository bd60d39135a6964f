package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/metrics"
)

// mutate decodes and defaults the merged object and runs the mutating half of the admission chain on it. A nil plan skips
// admission.
func (w *write) mutate(ctx context.Context, live *loaded, m merged, plan *admission.Plan) (*admitted, error) {
	if live.object == nil && w.Endpoint.Kind.Terminating {
		return nil, apierrors.NewForbidden(w.Endpoint.resource(), w.displayName(), errors.New("create not allowed while custom resource definition is terminating"))
	}
	e := w.Endpoint
	a := &admitted{object: m.object, plan: plan}
	doc, err := w.decodeAs(e.values, m.object.Document)
	if err != nil {
		return nil, err
	}
	a.object.Document = e.values.Default(doc)
	if err := w.checkDefaulted(live, a.object.Document); err != nil {
		return nil, err
	}
	if !plan.Mutates() {
		return a, nil
	}
	object, old := a.object.Document, live.current.Document
	if p := m.projected; p != nil {
		object, old = p.after.Document, p.before.Document
	}
	a.attributes = w.attributes(live, &mutateSource{source{w, live}, m, a.object.Entries}, object, old)
	if err := plan.Admit(ctx, a.attributes); err != nil {
		return nil, StoreError(err)
	}
	switch {
	case a.attributes.WasReturned():
		return a, w.adoptReturned(live, m, a)
	case !document.Same(object, a.attributes.Object):
		return a, w.adoptMutated(a, a.attributes.Object)
	}
	return a, nil
}

// displayName returns the name for admission errors: generateName if the server generates the name, otherwise the name.
func (w *write) displayName() string {
	if c := w.verb.create; c != nil && c.generateName != "" {
		return c.generateName
	}
	return w.Name
}

// attributes returns the description of the write for admission plugins. object and old are the new and the live object at
// the request's version.
func (w *write) attributes(live *loaded, from admission.Source, object, old document.Value) *admission.Record {
	a := admission.Attributes{
		Resource: w.Endpoint.admission.Resource(), Operation: live.operation(), Verb: w.Verb,
		Namespace: w.Namespace, Name: w.Name, User: w.User, DryRun: w.DryRun,
		Object: object, OldObject: old, Reader: w.reader, Warn: w.Warn,
	}
	if w.Endpoint.Kind.ContainsObjects {
		a.Namespace = w.Name
	}
	if c := w.verb.create; c != nil && c.generateName != "" {
		a.Name = ""
	}
	return admission.NewRecord(a, from)
}

// adoptMutated replaces the admitted object with doc, the result of in-tree plugins. At an endpoint with a projection, such
// as scale, doc is the body, and its changes are applied to the object.
func (w *write) adoptMutated(a *admitted, doc document.Value) error {
	a.mutated = true
	if w.Endpoint.isProjected() {
		a.object.Document = w.Endpoint.projection.apply(a.object.Document, doc)
		return nil
	}
	a.object.Document = doc
	return nil
}

// invalidManagedFields is the warning of kube-apiserver for an object whose managedFields a webhook has broken.
const invalidManagedFields = ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: %v"

// adoptReturned replaces the admitted object and its managed fields entries with those that webhooks returned. It rejects a
// changed name, namespace or resourceVersion. If the returned managedFields cannot be decoded, it adds a warning and retains
// the entries that the object had before admission.
func (w *write) adoptReturned(live *loaded, m merged, a *admitted) error {
	e := w.Endpoint
	doc, err := a.attributes.Returned()
	if err != nil {
		return err
	}
	if err := w.checkReturnedRevision(live, m, doc.Lookup("metadata", "resourceVersion").Text()); err != nil {
		return err
	}
	if e.isProjected() {
		if err := w.checkProjectedUID(live, doc); err != nil && !e.Kind.Custom {
			return err
		}
		return w.adoptProjected(live, m, a, doc)
	}
	if doc, err = w.withNamespace(doc); err != nil {
		return err
	}
	if c := w.verb.create; c != nil && c.generateName != "" && doc.Lookup("metadata", "name").IsAbsent() {
		doc = doc.With("metadata", doc.Get("metadata").With("name", document.NewString(w.Name)))
	}
	if name := doc.Lookup("metadata", "name").Text(); name != w.Name {
		return api.Invalid(e.errorKind(), w.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "name"), name, "field is immutable"),
		})
	}
	if err := e.checkReturnedNulls(doc); err != nil {
		return err
	}
	entries := a.object.Entries
	if split, err := apply.SplitObject(doc); err == nil {
		entries = split.Entries
	} else {
		w.Metrics.ManagedFields(metrics.Repaired, len(entries))
		w.Warn(fmt.Sprintf(invalidManagedFields, err))
	}
	metadata := doc.Get("metadata").Without("resourceVersion").Without("selfLink").Without("managedFields")
	a.object = apply.Object{Document: w.withUniqueOwnerReferences(doc.With("metadata", metadata), duplicatesAfterAdmission), Entries: entries}
	if err := w.pruneReturned(a); err != nil {
		return err
	}
	if doc, err = w.decodeAs(e.values, a.object.Document); err != nil {
		return err
	}
	a.object.Document = e.values.Default(doc)
	return w.checkDefaulted(live, a.object.Document)
}

// adoptProjected applies a body that webhooks or policies returned, such as a Scale, to the admitted object, and updates the
// object's managed fields entries if those of the body changed. managedFields that cannot be decoded are ignored.
func (w *write) adoptProjected(live *loaded, m merged, a *admitted, body document.Value) error {
	if split, err := apply.SplitObject(body); err == nil && m.projected != nil && !sameEntries(split.Entries, m.projected.after.Entries) {
		if a.object.Entries, err = w.Endpoint.projection.applyEntries(live.current.Entries, split.Entries); err != nil {
			return err
		}
	}
	return w.adoptMutated(a, body)
}

// pruneReturned removes the fields that webhooks set on a custom resource and that its schema does not define. The unpruned
// object is retained for validating admission, as in kube-apiserver.
func (w *write) pruneReturned(a *admitted) error {
	if !w.Endpoint.isCustomObject() {
		return nil
	}
	known, unknown, err := readSilently(w.Endpoint.values, a.object.Document)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(unknown) > 0 {
		a.unpruned = a.object.Document
	}
	a.object.Document = known
	return nil
}

// checkReturnedRevision checks version, which a webhook set, like a resourceVersion that the client sent, except that it
// returns a 500 instead of a 400 if it is not a number.
func (w *write) checkReturnedRevision(live *loaded, m merged, version string) error {
	if version == "" || version == "0" || version == m.resourceVersion {
		return nil
	}
	isCreate := w.verb.create != nil
	revision, err := strconv.ParseUint(version, 10, 64)
	switch {
	case live.object != nil && err == nil && revision != uint64(live.object.Revision()):
		return w.staleError()
	case isCreate && err == nil && !w.DryRun:
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: revisionOnCreateMessage,
		}}
	case !isCreate && err != nil:
		return apierrors.NewInternalError(fmt.Errorf("an admission webhook set the resourceVersion: expected a number, received %q", version))
	}
	return nil
}
