package objects

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// Update puts an object in the place of the one that is there.
func (o *Objects) Update(ctx context.Context, r *Request) (Result, error) {
	body, err := r.read(document.Value{})
	if err != nil {
		return Result{}, err
	}
	if err := body.checkManaged(); err != nil {
		return Result{}, r.unfit(err.Error())
	}
	if body.document, err = r.clean(r.Endpoint.body, body.document); err != nil {
		return Result{}, err
	}
	body.document = r.onceReferred(body.document, asSent)
	if err := r.checkName(body.document); err != nil {
		return Result{}, err
	}
	w := &writing{all: o, Request: r, once: body.isOfRevision(), change: func(w *writing) error { return w.update(ctx, body) }}
	return w.write(ctx)
}

// update is the part of the verb.
func (w *writing) update(ctx context.Context, body sent) error {
	e := w.Endpoint
	if w.live == nil && (!e.Kind.PutCreates || e.Subresource != "") {
		return apierrors.NewNotFound(e.resource(), w.Name)
	}
	if err := w.checkUID(body.document, w.Endpoint.resource()); err != nil {
		return err
	}
	if w.live != nil {
		return w.replace(body)
	}
	if err := w.mayCreate(ctx); err != nil {
		return err
	}
	return w.create(ctx, body)
}

// checkUID refuses bodies about another object that had the same name.
func (w *writing) checkUID(body document.Value, resource schema.GroupResource) error {
	there := w.stored.Lookup("metadata", "uid").Text()
	if uid := body.Lookup("metadata", "uid").Text(); uid != "" && uid != there {
		return apierrors.NewConflict(resource, w.Name,
			errors.New("Precondition failed: UID in precondition: "+uid+", UID in object meta: "+there))
	}
	return nil
}

// replace puts another object in the place of the one that is there.
func (w *writing) replace(body sent) error {
	if err := w.requireRevision(body); err != nil {
		return err
	}
	if err := w.checkRevision(body); err != nil {
		return err
	}
	doc, err := w.checkType(body.document)
	if err != nil {
		return err
	}
	if doc, err = w.place(doc); err != nil {
		return err
	}
	w.sentRevision = body.resourceVersion
	before := w.before
	// An empty list of owners is none in the metadata of custom resources. An empty entry clears there, too.
	isNothing := w.Endpoint.evolving != nil && body.managed.Len() == 0
	if w.Endpoint.Subresource == "" && !isNothing {
		before.Entries = body.entries(w.before)
	}
	return w.track(before, w.Endpoint.keepUnset(w.Endpoint.whole(doc), w.before.Document))
}

// requireRevision refuses bodies that do not say about which version of the object they are, where the kind wants that.
func (w *writing) requireRevision(body sent) error {
	e := w.Endpoint
	if body.isOfRevision() || !e.Kind.PutVersioned || e.Subresource == scale {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: e.Kind.Group, Kind: e.Kind.Resource}, w.Name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
	})
}

// checkRevision refuses bodies that are about another version of the object than the one that is
// there.
func (w *writing) checkRevision(body sent) error {
	if !body.isOfRevision() {
		return nil
	}
	revision, err := strconv.ParseUint(body.resourceVersion, 10, 63)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("metadata.resourceVersion: expected a number, received %q", body.resourceVersion))
	}
	if w.live != nil && revision != uint64(w.live.Revision()) {
		return w.staleError()
	}
	return nil
}

// checkName refuses bodies about another object than the path names.
func (r *Request) checkName(doc document.Value) error {
	metadata := doc.Get("metadata")
	name, err := textOf(metadata, "name")
	if err != nil {
		return err
	}
	if name == "" {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", r.Name))
	}
	if name != r.Name {
		return apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s) does not match the name on the URL (%s)", name, r.Name))
	}
	return nil
}

// place puts an object into the namespace of the request, and refuses one of another.
func (r *Request) place(doc document.Value) (document.Value, error) {
	metadata := doc.Get("metadata")
	namespace, err := textOf(metadata, "namespace")
	switch {
	case err != nil:
		return doc, err
	case namespace == r.Namespace:
		return doc, nil
	case namespace == "":
		return doc.With("metadata", metadata.With("namespace", document.NewString(r.Namespace))), nil
	case r.Namespace == "":
		// Objects that have no namespace lose the one that they were sent with.
		return doc.With("metadata", metadata.Without("namespace")), nil
	default:
		return doc, apierrors.NewBadRequest(fmt.Sprintf("the namespace of the provided object does not match the namespace sent on the request: expected %q, received %q", r.Namespace, namespace))
	}
}
