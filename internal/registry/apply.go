package registry

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

// Apply applies an apply configuration: it creates the object, or merges the configuration into the live object. It returns a
// 409 if the configuration conflicts with other field managers and the request does not force it.
func (r *Registry) Apply(ctx context.Context, request *Request) (_ Result, err error) {
	defer func() { err = r.withoutSecretValues(ctx, request, err) }()
	var config *decoded // decoded once, in the first attempt; shares memory with the live object of the first attempt
	w := r.newWrite(request, verb{
		merge: func(ctx context.Context, w *write, live *loaded) (merged, error) {
			if config == nil {
				first, err := request.decodeConfiguration(live.current.Document)
				if err != nil {
					return merged{}, err
				}
				config = &first
				if e := request.Endpoint; w.hasMarkers(first.document) {
					w.Metrics.UnsetApply(e.Kind.Group, e.Version, e.Kind.Resource, e.Subresource)
				}
			}
			return w.mergeApply(ctx, live, *config)
		},
	})
	return w.run(ctx)
}

// decodeConfiguration decodes an apply configuration. It returns a 400 if the kind, apiVersion, name or namespace does not match
// the request, or if the configuration contains managedFields. live may be absent; the result may share memory with live.
func (r *Request) decodeConfiguration(live document.Value) (decoded, error) {
	doc, err := r.Body.parseWithBase(live)
	if err != nil {
		return decoded{}, err
	}
	if kind, version := doc.Get("kind").Text(), doc.Get("apiVersion").Text(); kind != r.Endpoint.BodyKind || version != r.Endpoint.BodyVersion {
		return decoded{}, apierrors.NewBadRequest(fmt.Sprintf("invalid object type: expected kind %s and apiVersion %s, received %q and %q",
			r.Endpoint.BodyKind, r.Endpoint.BodyVersion, kind, version))
	}
	config, err := split(doc)
	if err != nil {
		return decoded{}, err
	}
	switch config.managed.Kind() {
	case document.Absent, document.Null:
	case document.List:
		return decoded{}, apierrors.NewBadRequest("metadata.managedFields must be nil: the server sets managedFields; remove them from the configuration")
	default:
		return decoded{}, apierrors.NewBadRequest(fmt.Sprintf(
			"metadata.managedFields: expected no value, received a %s; the server sets managedFields; remove them from the configuration", config.managed.Kind()))
	}
	metadata := config.document.Get("metadata")
	if metadata.Get("name").IsAbsent() && live.IsAbsent() {
		return decoded{}, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", r.Name))
	}
	if !metadata.Get("name").IsAbsent() {
		if err := r.checkName(config.document); err != nil {
			return decoded{}, err
		}
	}
	if !metadata.Get("namespace").IsAbsent() {
		config.document, err = r.withNamespace(config.document)
	}
	return config, err
}

// mergeApply applies a configuration to the live object. Conflicts with other field managers take precedence over a wrong uid
// or resourceVersion, as in kube-apiserver.
func (w *write) mergeApply(ctx context.Context, live *loaded, config decoded) (m merged, err error) {
	if err := w.checkApplicable(ctx, live); err != nil {
		return m, err
	}
	if live.object == nil {
		if err := w.checkNoDeletionFields(config.document); err != nil {
			return m, err
		}
	}
	if m, err = w.mergeConfiguration(ctx, live, config); err != nil {
		return m, err
	}
	if err := w.checkProjectedUID(live, config.document); err != nil {
		return m, err
	}
	if uid := config.document.Lookup("metadata", "uid").Text(); uid != "" && live.object == nil {
		return m, apierrors.NewConflict(w.Endpoint.resource(), w.Name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	return m, w.checkRevision(live, config)
}

// mergeConfiguration merges a configuration into the live object, or into its projection, with the apply engine.
func (w *write) mergeConfiguration(ctx context.Context, live *loaded, config decoded) (m merged, err error) {
	e := w.Endpoint
	if e.isProjected() {
		return w.mergeProjectedConfiguration(live, config)
	}
	current, r := live.current, w.applyRequest()
	if w.hasMarkers(config.document) {
		r = w.unsetRequest(ctx, live)
		if e.isSecret() {
			if isMarker(config.document.Get("stringData")) {
				w.Warn(textMarkersWarning)
			}
			if current.Document, config.document, err = withTextMarkers(current.Document, config.document); err != nil {
				return m, w.engineError(err)
			}
		}
	}
	result, err := w.applyConfiguration(current, config.document, &r)
	if err != nil {
		return m, w.engineError(err)
	}
	w.countEntries(result)
	m = merged{object: result.Object, resourceVersion: live.revision()}
	if live.object == nil {
		if m.object.Document, err = w.withNamespace(m.object.Document); err != nil {
			return m, err
		}
		return m, w.checkNulls(live, m, config.document)
	}
	if err := w.checkNulls(live, m, config.document); err != nil {
		return m, err
	}
	// Maps and lists that the apply emptied are dropped after the merge, because the engine computes the managed fields from
	// them.
	sent := config.document
	if w.hasMarkers(sent) {
		owned, err := ownedFields(m.object.Entries)
		if err != nil {
			return m, w.engineError(err)
		}
		sent = withoutMarkedContainers(e.topology, sent, owned)
	}
	m.object.Document = e.values.DropPruned(live.current.Document, m.object.Document, sent, e.topology)
	w.warnOfSiblings(m, config.document)
	return m, nil
}

// mergeProjectedConfiguration is mergeConfiguration for the projection of a subresource. It is not inlined, so that other applies do
// not need its stack frame; see growStack in package server.
//
//go:noinline
func (w *write) mergeProjectedConfiguration(live *loaded, config decoded) (m merged, err error) {
	projection, engine := w.Endpoint.projection, w.Endpoint.engine
	if w.hasMarkers(config.document) {
		if projection, engine, err = projection.withMarkers(live.current.Document); err != nil {
			return m, err
		}
	}
	m, err = w.mergeProjected(live, projection, func(before apply.Object) (apply.Result, error) {
		return engine.Apply(before, config.document, w.applyRequest())
	})
	m.resourceVersion = live.revision()
	return m, err
}

// checkNulls returns a 422 if the configuration of a custom resource contains nulls that its schema does not allow. A null is
// allowed for a field with a default. Other verbs drop nulls when they decode the body.
func (w *write) checkNulls(live *loaded, m merged, config document.Value) error {
	e := w.Endpoint
	if e.evolving == nil || e.Subresource != "" || !hasNull(config) {
		return nil
	}
	if errs := e.values.Validate(e.values.Default(m.object.Document), live.current.Document); len(errs) > 0 {
		return api.Invalid(e.errorKind(), w.Name, errs)
	}
	return nil
}

// hasNull reports whether a document is null or contains a null at any depth.
func hasNull(v document.Value) bool {
	for i := range v.Len() {
		if hasNull(v.At(i)) {
			return true
		}
	}
	return v.IsNull()
}

// checkApplicable rejects an apply whose object does not exist: with a 404 if the request is to a subresource, and with a 403 if
// the user is not authorized to create the object.
func (w *write) checkApplicable(ctx context.Context, live *loaded) error {
	switch {
	case live.object != nil:
		return nil
	case w.Endpoint.Subresource != "":
		return apierrors.NewNotFound(w.Endpoint.resource(), w.Name)
	}
	return w.authorizeCreate(ctx)
}

// engineError converts an error of the apply engine to an API status: conflicts become a 409, and other errors a 400. An error
// that is an API status already is returned unchanged.
func (w *write) engineError(err error) error {
	var (
		conflict *apply.ConflictError
		invalid  *apply.InvalidError
		status   *apierrors.StatusError
	)
	switch {
	case errors.As(err, &conflict):
		return conflictStatus(conflict, w.Endpoint.valueFormatter())
	case errors.As(err, &invalid):
		return w.invalidConfiguration(invalid)
	case errors.As(err, &status):
		return status
	default:
		return apierrors.NewBadRequest(err.Error())
	}
}
