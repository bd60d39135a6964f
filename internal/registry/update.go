package registry

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

// Update replaces an object. If the object does not exist, Update creates it, or returns a 404 if the resource does not allow
// that (AllowCreateOnUpdate).
func (r *Registry) Update(ctx context.Context, request *Request) (_ Result, err error) {
	defer func() { err = r.withoutSecretValues(ctx, request, err) }()
	body, err := r.decodeUnmarked(request, func() document.Value { return r.liveDocument(ctx, request) })
	if err != nil {
		return Result{}, err
	}
	if err := request.checkName(body.document); err != nil {
		return Result{}, err
	}
	w := r.newWrite(request, verb{
		conflictIsFinal: body.hasRevision(),
		merge: func(ctx context.Context, w *write, live *loaded) (merged, error) {
			return w.mergeUpdate(ctx, live, body)
		},
	})
	return w.run(ctx)
}

// mergeUpdate returns the object of an update request that replaces the live object, or that creates it.
func (w *write) mergeUpdate(ctx context.Context, live *loaded, body decoded) (merged, error) {
	e := w.Endpoint
	if live.object == nil && (!e.Kind.AllowCreateOnUpdate || e.Subresource != "") {
		return merged{}, apierrors.NewNotFound(e.resource(), w.Name)
	}
	if err := w.checkUID(live, body.document, e.resource()); err != nil {
		return merged{}, err
	}
	if live.object != nil {
		return w.mergeReplacement(live, body)
	}
	if err := w.authorizeCreate(ctx); err != nil {
		return merged{}, err
	}
	return w.mergeCreate(live, body)
}

// checkUID returns a 409 if the body contains a uid that is not that of the live object.
func (w *write) checkUID(live *loaded, body document.Value, resource schema.GroupResource) error {
	liveUID := live.stored.Lookup("metadata", "uid").Text()
	if uid := body.Lookup("metadata", "uid").Text(); uid != "" && uid != liveUID {
		return apierrors.NewConflict(resource, w.Name,
			errors.New("Precondition failed: UID in precondition: "+uid+", UID in object meta: "+liveUID))
	}
	return nil
}

// mergeReplacement replaces the live object with the body of an update, or with the result of a patch.
func (w *write) mergeReplacement(live *loaded, body decoded) (merged, error) {
	if err := w.requireRevision(body); err != nil {
		return merged{}, err
	}
	if err := w.checkRevision(live, body); err != nil {
		return merged{}, err
	}
	doc, err := w.checkType(live, body.document)
	if err != nil {
		return merged{}, err
	}
	if doc, err = w.withNamespace(doc); err != nil {
		return merged{}, err
	}
	before := live.current
	// An empty list of managedFields in a custom resource does not remove the managed fields entries; a list of one empty
	// entry does.
	keepsEntries := w.Endpoint.evolving != nil && body.managed.Len() == 0
	if w.Endpoint.Subresource == "" && !keepsEntries {
		before.Entries = body.entries(live.current)
	}
	complete := w.Endpoint.complete(doc)
	if err := w.checkDefaulted(live, complete); err != nil {
		return merged{}, err
	}
	m, err := w.mergeWhole(live, before, w.Endpoint.retainZeroValues(complete, live.current.Document))
	m.resourceVersion = body.resourceVersion
	return m, err
}

// requireRevision returns a 422 if the body contains no resourceVersion and updates of the resource require one.
func (w *write) requireRevision(body decoded) error {
	e := w.Endpoint
	if body.hasRevision() || !e.Kind.RequireResourceVersion || e.isProjected() {
		return nil
	}
	return apierrors.NewInvalid(schema.GroupKind{Group: e.Kind.Group, Kind: e.Kind.Resource}, w.Name, field.ErrorList{
		field.Invalid(field.NewPath("metadata", "resourceVersion"), 0, "must be specified for an update"),
	})
}

// checkRevision returns a 409 if the body contains a resourceVersion that is not that of the live object, and a 400 if it is
// not a number.
func (w *write) checkRevision(live *loaded, body decoded) error {
	if !body.hasRevision() {
		return nil
	}
	revision, err := strconv.ParseUint(body.resourceVersion, 10, 63)
	if err != nil {
		return apierrors.NewBadRequest(fmt.Sprintf("metadata.resourceVersion: expected a number, received %q", body.resourceVersion))
	}
	if live.object != nil && revision != uint64(live.object.Revision()) {
		return w.staleError()
	}
	return nil
}

// staleError returns the 409 for a resourceVersion that is not that of the live object.
func (w *write) staleError() error {
	return apierrors.NewConflict(w.Endpoint.resource(), w.Name,
		errors.New("the object has been modified; please apply your changes to the latest version and try again"))
}
