package registry

import (
	"context"
	"errors"
	"strings"

	"k8s.io/apimachinery/pkg/api/validate/content"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
)

// validate returns a 422 if a prepared object is invalid according to the resource's validation, or if admission plugins have
// added errors. For a valid object it adds warnings about fields that are deprecated or have no effect.
func (w *write) validate(live *loaded, a *admitted, p *prepared) error {
	e := w.Endpoint
	if live.object == nil {
		for _, text := range e.stored.RequestWarnings(p.unprepared) {
			w.Warn(text)
		}
	}
	own, err := w.validationErrors(live, p)
	if err != nil {
		return err
	}
	errs := append(a.attributes.Errors(), own...)
	if errs = append(errs, validateManagers(p.object.Entries)...); len(errs) == 0 && live.object == nil {
		errs = validateKeyName(p.object.Document.Lookup("metadata", "name").Text())
	}
	if len(errs) > 0 {
		return api.Invalid(e.errorKindOf(p.object.Document), w.Name, errs)
	}
	w.warn(live, p.object.Document)
	return nil
}

// validateKeyName validates the name of a new object as a part of its key in the store. The validation of most resources permits
// fewer names.
func validateKeyName(name string) field.ErrorList {
	at := field.NewPath("metadata", "name")
	if name == "" {
		return field.ErrorList{field.Required(at, "name or generateName is required")}
	}
	if strings.IndexByte(name, 0) >= 0 {
		return field.ErrorList{field.Invalid(at, name, `may not contain a zero byte`)}
	}
	var errs field.ErrorList
	for _, problem := range content.IsPathSegmentName(name) {
		errs = append(errs, field.Invalid(at, name, problem))
	}
	return errs
}

// validationErrors returns the errors of the subresource's validation, or of the resource's if the subresource has none.
func (w *write) validationErrors(live *loaded, p *prepared) (field.ErrorList, error) {
	e := w.Endpoint
	if e.subresource != nil && e.subresource.Validate != nil {
		errs, warnings := e.subresource.Validate(e.stored, p, live.stored)
		for _, text := range warnings {
			w.Warn(text)
		}
		return errs, nil
	}
	if e.Kind.ValidateRequestVersion {
		asSent, err := e.fromStored(p.object.Document)
		return e.values.Validate(asSent, live.current.Document), err
	}
	ratcheting, ok := e.stored.(Ratcheting)
	if !ok {
		return e.stored.Validate(p.validated, live.stored), nil
	}
	errs, warnings := ratcheting.Check(p.validated, live.stored)
	for _, text := range warnings {
		w.Warn(text)
	}
	return errs, nil
}

// warn adds the warnings about a valid object, such as deprecated fields, to the response. It is called for no-ops too.
func (w *write) warn(live *loaded, doc document.Value) {
	warnings := w.Endpoint.stored.Warnings
	if s := w.Endpoint.subresource; s != nil && s.Warnings != nil {
		warnings = func(obj, old document.Value) []string { return s.Warnings(w.Endpoint.stored, obj, old) }
	}
	for _, text := range warnings(doc, live.stored) {
		w.Warn(text)
	}
}

// validateAdmission runs the validating half of the admission chain on a prepared object. noOp reports that the write changes
// nothing; then only the plugins that handle no-ops run.
func (w *write) validateAdmission(ctx context.Context, live *loaded, a *admitted, p *prepared, noOp bool) error {
	if !a.plan.Validates(noOp) {
		return nil
	}
	e := w.Endpoint
	old, entries := live.current.Document, p.object.Entries
	doc, err := e.fromStored(w.validatedObject(live, a, p))
	if err != nil {
		return err
	}
	if e.isProjected() {
		entries = nil // a projection has no managedFields
		if doc, err = e.projection.project(p.object.Document); err != nil {
			return err
		}
		if old, err = e.projection.project(live.stored); err != nil {
			return err
		}
	}
	attributes := w.attributes(live, &validateSource{source{w, live}, entries}, doc, old)
	attributes.Name = w.Name
	if a.attributes != nil {
		attributes.Costs = a.attributes.Costs
	}
	if err := a.plan.Validate(ctx, attributes, noOp); err != nil {
		return StoreError(err)
	}
	a.attributes = joinCommits(a.attributes, attributes)
	return nil
}

// validatedObject returns the object for validating admission, at the storage version: with its new generation, and with the
// fields that are pruned when it is stored.
func (w *write) validatedObject(live *loaded, a *admitted, p *prepared) document.Value {
	metadata := p.object.Document.Get("metadata")
	if a.unpruned.IsAbsent() {
		return p.validated.With("metadata", metadata)
	}
	e := w.Endpoint
	doc := e.Kind.Prepare(e.Subresource, a.unpruned, live.stored, api.Write{Version: e.Version, Time: w.Now(), User: apiUser(w.User)})
	known, _, _ := readSilently(e.values, a.unpruned) // no error: pruneReturned has decoded a.unpruned already
	for i, all := 0, a.unpruned.Get("metadata"); i < all.Len(); i++ {
		if name := all.Name(i); known.Lookup("metadata", name).IsAbsent() {
			metadata = metadata.With(name, all.At(i))
		}
	}
	return doc.With("metadata", metadata)
}

// Review runs admission on the object of a create request that is never stored, such as a SubjectAccessReview. It returns the
// object after admission; absent if no plugin handles it.
func (r *Registry) Review(ctx context.Context, request *Request) (document.Value, error) {
	w := r.newWrite(request, verb{create: &creation{}})
	live := &loaded{}
	plan := request.Endpoint.admission.Plan(live.operation())
	if plan == nil {
		return document.Value{}, nil
	}
	body, err := request.decodeObject()
	if err != nil {
		return document.Value{}, err
	}
	request.Name = body.document.Lookup("metadata", "name").Text()
	doc, err := w.withNamespace(body.document)
	if err != nil {
		return document.Value{}, err
	}
	m := merged{object: apply.Object{Document: request.Endpoint.complete(withoutDeletionFields(doc))}}
	for {
		reviewed, err := w.attemptReview(ctx, live, m, plan)
		switch {
		case !errors.Is(err, errAdmissionStale):
			return reviewed, err
		case ctx.Err() != nil:
			return document.Value{}, StoreError(ctx.Err())
		}
	}
}

// attemptReview runs admission once on an object that is not stored, and commits the writes of admission plugins. It returns
// errAdmissionStale if admission must be repeated.
func (w *write) attemptReview(ctx context.Context, live *loaded, m merged, plan *admission.Plan) (document.Value, error) {
	a, err := w.mutate(ctx, live, m, plan)
	if err != nil {
		return document.Value{}, err
	}
	p := &prepared{object: a.object, validated: a.object.Document}
	if err := w.validateAdmission(ctx, live, a, p, false); err != nil || w.DryRun {
		return a.object.Document, err
	}
	return a.object.Document, w.commitAdmission(ctx, a.attributes)
}
