package objects

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
)

// Apply merges a configuration into an object, or makes one of it.
func (o *Objects) Apply(ctx context.Context, r *Request) (Result, error) {
	var config *sent // read once, beside the object that was there first
	w := &writing{all: o, Request: r, change: func(w *writing) error {
		if config == nil {
			read, err := r.readConfig(w.before.Document)
			if err != nil {
				return err
			}
			config = &read
		}
		return w.apply(ctx, *config)
	}}
	return w.write(ctx)
}

// readConfig reads a configuration, and refuses what can't be applied to anything.
func (r *Request) readConfig(live document.Value) (sent, error) {
	doc, err := r.Body.parseBeside(live)
	if err != nil {
		return sent{}, err
	}
	if kind, version := doc.Get("kind").Text(), doc.Get("apiVersion").Text(); kind != r.Endpoint.BodyKind || version != r.Endpoint.BodyVersion {
		return sent{}, apierrors.NewBadRequest(fmt.Sprintf("invalid object type: expected kind %s and apiVersion %s, received %q and %q",
			r.Endpoint.BodyKind, r.Endpoint.BodyVersion, kind, version))
	}
	config, err := r.split(doc)
	if err != nil {
		return sent{}, err
	}
	if config.managed.Kind() == document.List {
		return sent{}, apierrors.NewBadRequest("metadata.managedFields must be nil: a configuration says what its applier wants, and the server keeps who owns what; remove it")
	}
	metadata := config.document.Get("metadata")
	if metadata.Get("name").IsAbsent() && live.IsAbsent() {
		return sent{}, apierrors.NewBadRequest(fmt.Sprintf("the name of the object (%s based on URL) was undeterminable: name must be provided", r.Name))
	}
	if !metadata.Get("name").IsAbsent() {
		if err := r.checkName(config.document); err != nil {
			return sent{}, err
		}
	}
	if !metadata.Get("namespace").IsAbsent() {
		config.document, err = r.place(config.document)
	}
	return config, err
}

// apply is the part of the verb. Conflicts with others are told before that the object is not the one that was meant.
func (w *writing) apply(ctx context.Context, config sent) error {
	if err := w.checkExistence(ctx, config); err != nil {
		return err
	}
	if w.live == nil {
		if err := w.checkNotDeleted(config.document); err != nil {
			return err
		}
	}
	if err := w.merge(config); err != nil {
		return err
	}
	if err := w.checkScaled(config.document); err != nil {
		return err
	}
	if uid := config.document.Lookup("metadata", "uid").Text(); uid != "" && w.live == nil {
		return apierrors.NewConflict(w.Endpoint.resource(), w.Name, fmt.Errorf("uid mismatch: the provided object specified uid %s, and no existing object was found", uid))
	}
	if err := w.checkRevision(config); err != nil {
		return err
	}
	return w.findPlace(ctx)
}

// merge applies a configuration to what is there.
func (w *writing) merge(config sent) error {
	w.sentRevision = w.liveRevision()
	if w.Endpoint.Subresource == scale {
		return w.throughScale(func(before apply.Object) (apply.Result, error) {
			return w.Endpoint.engine.Apply(before, config.document, w.applyRequest())
		})
	}
	result, err := w.applyConfig(w.before, config.document)
	if err != nil {
		return w.engineError(err)
	}
	w.take(result)
	if w.live == nil {
		if w.after.Document, err = w.place(w.after.Document); err != nil {
			return err
		}
		return w.checkNulls(config.document)
	}
	if err := w.checkNulls(config.document); err != nil {
		return err
	}
	// Nobody has lost what is empty now, as long as it is asked who has lost what.
	w.after.Document = w.Endpoint.values.WithoutPruned(w.before.Document, w.after.Document, config.document, w.Endpoint.topology)
	w.warnOfSiblings(config.document)
	return nil
}

// checkNulls refuses the nulls of a configuration where a custom resource may have none. Other writers may send them:
// theirs are dropped when they are read, and a configuration is not. Where there is a default, null is as good as nothing.
func (w *writing) checkNulls(config document.Value) error {
	e := w.Endpoint
	if e.evolving == nil || e.Subresource != "" || !hasNull(config) {
		return nil
	}
	if errs := e.values.Validate(e.values.Default(w.after.Document), w.before.Document); len(errs) > 0 {
		return Invalid(e.errorKind(), w.Name, errs)
	}
	return nil
}

// hasNull reports whether there is a null in a document.
func hasNull(v document.Value) bool {
	for i := range v.Len() {
		if hasNull(v.At(i)) {
			return true
		}
	}
	return v.IsNull()
}

// checkOnly refuses a write that is meant only for objects that are there, or that are not.
func (w *writing) checkOnly() error {
	switch {
	case w.live != nil && w.Only == Absent:
		return preconditionFailed(fmt.Sprintf("%s %q exists, and the request has If-None-Match: *, which only creates", w.Endpoint.resource(), w.Name))
	case w.live == nil && w.Only == Present:
		return preconditionFailed(fmt.Sprintf("%s %q does not exist, and the request has If-Match: *, which only updates", w.Endpoint.resource(), w.Name))
	}
	return nil
}

// checkExistence refuses an apply to an object that should be there and is not.
func (w *writing) checkExistence(ctx context.Context, config sent) error {
	e := w.Endpoint
	if w.live == nil && e.Subresource != "" {
		return apierrors.NewNotFound(e.resource(), w.Name)
	}
	if w.live != nil {
		return nil
	}
	return w.mayCreate(ctx)
}

// preconditionFailed is the error for conditions in headers.
func preconditionFailed(text string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status: metav1.StatusFailure, Code: 412, Reason: "PreconditionFailed", Message: text,
	}}
}

// engineError says to a client why the engine refused.
func (w *writing) engineError(err error) error {
	var (
		conflict *apply.ConflictError
		invalid  *apply.InvalidError
		status   *apierrors.StatusError
	)
	switch {
	case errors.As(err, &conflict):
		return conflictStatus(conflict, w.Endpoint.showing())
	case errors.As(err, &invalid):
		return w.invalid(invalid)
	case errors.As(err, &status):
		return status
	default:
		return apierrors.NewBadRequest(err.Error())
	}
}
