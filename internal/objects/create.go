package objects

import (
	"context"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/rand"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/metrics"
)

// A name is made of generateName and so many random letters; if there is an object of that
// name already, another is tried.
const (
	randomLetters = 5
	nameTries     = 8
	longestPrefix = 63 - randomLetters
)

// versionedNew is for new objects that have a version.
const versionedNew = "resourceVersion should not be set on objects to be created"

// Create makes a new object.
func (o *Objects) Create(ctx context.Context, r *Request) (Result, error) {
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
	metadata := body.document.Get("metadata")
	name, prefix := metadata.Get("name").Text(), metadata.Get("generateName").Text()
	// A dry run does not get to the store, which says so in Kubernetes. Tests send what they got from another request.
	isRevision := body.isOfRevision() && !r.DryRun
	w := &writing{all: o, Request: r, once: true, isRevision: isRevision, isCreated: true, change: func(w *writing) error { return w.create(ctx, body) }}
	for range nameTries {
		r.Name = name
		if name == "" && prefix != "" {
			w.prefix = prefix
			r.Name = prefix[:min(len(prefix), longestPrefix)] + rand.String(randomLetters)
		}
		result, err := w.write(ctx)
		if !apierrors.IsAlreadyExists(err) || name != "" {
			return result, err
		}
	}
	return Result{}, apierrors.NewGenerateNameConflict(r.Endpoint.resource(), r.Name, 1)
}

// cannotBeMade tells what is wrong with making an object that is right. In Kubernetes the store does, after all others were
// asked.
func (w *writing) cannotBeMade() error {
	switch {
	case w.isRevision:
		return apierrors.NewBadRequest(versionedNew)
	case w.isTaken:
		taken := apierrors.NewAlreadyExists(w.Endpoint.resource(), w.Name)
		if w.isTakenYet {
			taken.ErrStatus.Message = "object is being deleted: " + taken.ErrStatus.Message
		}
		return taken
	}
	return nil
}

// deletionFields are what an object has when it is being deleted. Nobody sets them, and no object begins with them.
var deletionFields = []string{"deletionTimestamp", "deletionGracePeriodSeconds"}

// withoutDeletion returns a new object that is not being deleted, whatever that which it was made of was.
func withoutDeletion(doc document.Value) document.Value {
	metadata := doc.Get("metadata")
	for _, name := range deletionFields {
		if !metadata.Get(name).IsAbsent() {
			doc = doc.With("metadata", metadata.Without(name))
			metadata = doc.Get("metadata")
		}
	}
	return doc
}

// checkNotDeleted refuses to make an object of a configuration of one that is being deleted, as it is refused to apply it to one
// that is not.
func (w *writing) checkNotDeleted(config document.Value) error {
	var errs field.ErrorList
	for _, name := range deletionFields {
		if is := config.Lookup("metadata", name); !is.IsAbsent() && !is.IsNull() {
			errs = append(errs, field.Invalid(field.NewPath("metadata", name), is.ToGo(), "field is immutable"))
		}
	}
	if len(errs) == 0 {
		return nil
	}
	return Invalid(w.Endpoint.errorKind(), w.Name, errs)
}

// create is the part of the verb.
func (w *writing) create(ctx context.Context, body sent) error {
	if w.isTaken = w.live != nil; w.isTaken {
		w.isTakenYet = isMarked(w.stored)
		w.live, w.stored, w.before = nil, document.Value{}, apply.Object{}
	}
	metadata := body.document.Get("metadata").With("name", document.NewString(w.Name))
	if w.Name == "" {
		metadata = metadata.Without("name")
	}
	doc, err := w.place(withoutDeletion(body.document.With("metadata", metadata)))
	if err != nil {
		return err
	}
	if err := w.findPlace(ctx); err != nil {
		return err
	}
	if doc, err = w.checkType(doc); err != nil {
		return err
	}
	return w.track(apply.Object{Document: w.Endpoint.empty, Entries: body.entries(apply.Object{})}, w.Endpoint.whole(doc))
}

// track finds out what a plain write changed, and notes who did it.
func (w *writing) track(before apply.Object, doc document.Value) error {
	if w.Endpoint.Subresource == scale {
		return w.throughScale(func(before apply.Object) (apply.Result, error) {
			return w.Endpoint.engine.Update(before, doc, w.applyRequest())
		})
	}
	read, err := w.Endpoint.asStored(doc)
	if err != nil {
		return err
	}
	result, err := w.Endpoint.engine.Update(before, read, w.applyRequest())
	if err != nil {
		return w.engineError(err)
	}
	if w.converted = w.Endpoint.objectVersion != w.Endpoint.storedVersion; w.converted {
		result.Object.Document = doc // it was converted to see who owns what, and is converted once more to be stored
	}
	w.take(result)
	return nil
}

// take takes over what the engine made.
func (w *writing) take(result apply.Result) {
	w.after = result.Object
	if n := len(result.Dropped); n > 0 {
		w.all.Metrics.ManagedFields(metrics.Dropped, n)
	}
	if n := len(result.Kept); n > 0 {
		w.all.Metrics.ManagedFields(metrics.Kept, n)
		w.all.Log.Warn("an object can't be converted, so that some who own its fields may own too many", "key", w.key().String(), "entries", n)
	}
}

func (w *writing) applyRequest() apply.Request {
	return apply.Request{
		Manager:     w.Manager,
		Subresource: w.Endpoint.Subresource,
		Version:     w.Endpoint.BodyVersion,
		Time:        w.all.Now(),
		Force:       w.Force,
		Empty:       w.Endpoint.empty,
	}
}
