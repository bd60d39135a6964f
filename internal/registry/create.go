package registry

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/metrics"
)

// A generated name consists of generateName, truncated to maxGenerateNameLength bytes, and randomSuffixLength random
// characters. If an object of that name exists, another name is generated, up to maxGenerateNameAttempts times.
const (
	randomSuffixLength      = 5
	maxGenerateNameAttempts = 8
	maxGenerateNameLength   = 63 - randomSuffixLength
)

// revisionOnCreateMessage is Kubernetes' error message for a create request whose body contains a resourceVersion.
const revisionOnCreateMessage = "resourceVersion should not be set on objects to be created"

// Create creates an object. If the body has generateName and no name, Create generates the name. It returns a 409 if the
// object exists.
func (r *Registry) Create(ctx context.Context, request *Request) (_ Result, err error) {
	defer func() { err = r.withoutSecretValues(ctx, request, err) }()
	body, err := r.decodeUnmarked(request, noObject)
	if err != nil {
		return Result{}, err
	}
	metadata := body.document.Get("metadata")
	name, prefix := metadata.Get("name").Text(), metadata.Get("generateName").Text()
	// kube-apiserver rejects a resourceVersion in the storage layer, which a dry run does not reach.
	c := &creation{hasRevision: body.hasRevision() && !request.DryRun}
	w := r.newWrite(request, verb{
		create: c, conflictIsFinal: true,
		merge: func(_ context.Context, w *write, live *loaded) (merged, error) { return w.mergeCreate(live, body) },
	})
	for range maxGenerateNameAttempts {
		request.Name = name
		if name == "" && prefix != "" {
			c.generateName = prefix
			request.Name = prefix[:min(len(prefix), maxGenerateNameLength)] + rand.String(randomSuffixLength)
		}
		result, err := w.run(ctx)
		if !apierrors.IsAlreadyExists(err) || name != "" {
			return result, err
		}
	}
	return Result{}, apierrors.NewGenerateNameConflict(request.Endpoint.resource(), request.Name, 1)
}

// mergeCreate returns the new object of a create request, or of an update that creates the object, with its managed fields
// entries.
func (w *write) mergeCreate(live *loaded, body decoded) (merged, error) {
	metadata := body.document.Get("metadata").With("name", document.NewString(w.Name))
	if w.Name == "" {
		metadata = metadata.Without("name")
	}
	doc, err := w.withNamespace(withoutDeletionFields(body.document.With("metadata", metadata)))
	if err != nil {
		return merged{}, err
	}
	complete := w.Endpoint.complete(doc)
	if err := w.checkDefaulted(live, complete); err != nil {
		return merged{}, err
	}
	return w.mergeWhole(live, apply.Object{Document: w.Endpoint.empty, Entries: body.entries(apply.Object{})}, complete)
}

// checkCreatable rejects a create request whose body contains a resourceVersion, or whose object exists. It is called after
// validation and admission, because kube-apiserver checks this in its storage layer. Other verbs pass.
func (w *write) checkCreatable(existing *loaded) error {
	switch create := w.verb.create; {
	case create == nil:
		return nil
	case create.hasRevision:
		return apierrors.NewBadRequest(revisionOnCreateMessage)
	case existing.object != nil:
		err := apierrors.NewAlreadyExists(w.Endpoint.resource(), w.Name)
		if isMarkedDeleted(existing.stored) {
			err.ErrStatus.Message = "object is being deleted: " + err.ErrStatus.Message
		}
		return err
	}
	return nil
}

// deletionFields are the fields in the metadata of an object that is being deleted. Only the server sets them.
var deletionFields = []string{"deletionTimestamp", "deletionGracePeriodSeconds"}

// withoutDeletionFields returns a new object without the deletion fields.
func withoutDeletionFields(doc document.Value) document.Value {
	metadata := doc.Get("metadata")
	for _, name := range deletionFields {
		if !metadata.Get(name).IsAbsent() {
			doc = doc.With("metadata", metadata.Without(name))
			metadata = doc.Get("metadata")
		}
	}
	return doc
}

// checkNoDeletionFields returns a 422 if an apply configuration that creates an object contains deletion fields. The apply engine
// rejects unset markers.
func (w *write) checkNoDeletionFields(config document.Value) error {
	var errs field.ErrorList
	for _, name := range deletionFields {
		if is := config.Lookup("metadata", name); !is.IsAbsent() && !is.IsNull() && !(w.Unset && isMarker(is)) {
			errs = append(errs, field.Invalid(field.NewPath("metadata", name), is.ToGo(), "field is immutable"))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return api.Invalid(w.Endpoint.errorKind(), w.Name, errs)
}

// mergeWhole replaces the object previous with doc, the body of the request or the result of a patch. The field manager of
// the request becomes the owner of the fields that differ.
func (w *write) mergeWhole(live *loaded, previous apply.Object, doc document.Value) (merged, error) {
	e := w.Endpoint
	if e.isProjected() {
		return w.mergeProjected(live, e.projection, func(before apply.Object) (apply.Result, error) {
			return e.engine.Update(before, doc, w.applyRequest())
		})
	}
	readBack, err := e.roundTrip(doc)
	if err != nil {
		return merged{}, err
	}
	result, err := e.engine.Update(previous, readBack, w.applyRequest())
	if err != nil {
		return merged{}, w.engineError(err)
	}
	m := merged{object: result.Object}
	if m.wasSentWhole = e.objectVersion != e.storedVersion; m.wasSentWhole {
		m.object.Document = doc // only the managed fields are computed from the round trip; prepare converts doc itself
	}
	w.countEntries(result)
	return m, nil
}

// countEntries counts managed fields entries that the engine could not convert to the request's version: entries that it
// dropped, and entries that it retained unconverted.
func (w *write) countEntries(result apply.Result) {
	if n := len(result.Dropped); n > 0 {
		w.Metrics.ManagedFields(metrics.Dropped, n)
	}
	if n := len(result.Kept); n > 0 {
		w.Metrics.ManagedFields(metrics.Kept, n)
		w.Log.Warn("keeping managedFields that cannot be converted", "key", w.key().String(), "entries", n)
	}
}

// applyRequest returns the parameters of the write for the apply engine.
func (w *write) applyRequest() apply.Request {
	return apply.Request{
		Manager:     w.Manager,
		Subresource: w.Endpoint.Subresource,
		Version:     w.Endpoint.BodyVersion,
		Time:        w.Now(),
		Force:       w.Force,
		Empty:       w.Endpoint.empty,
	}
}
