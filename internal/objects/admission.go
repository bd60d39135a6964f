package objects

import (
	"context"
	"fmt"
	"net/http"
	"strconv"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/cache"
	"github.com/cadastre/cadastre/internal/kinds"
	"github.com/cadastre/cadastre/internal/metrics"
)

// Admission are those who are asked about writes and are not part of the server: webhooks and policies.
type Admission interface {
	// Concern reports whether there may be somebody to ask about a write. Every write asks this.
	Concern(s admit.Subject, operation admit.Operation) (mutating, validating bool)
	// Mutate has them change the question's object, or refuse the write.
	Mutate(ctx context.Context, q *admit.Question) error
	// Validate has them refuse the write.
	Validate(ctx context.Context, q *admit.Question) error
}

func (e *Endpoint) subject() admit.Subject {
	return admit.Subject{Kind: e.Kind, Version: e.Version, Subresource: e.Subresource}
}

func (w *writing) operation() admit.Operation {
	if w.live == nil {
		return admit.Create
	}
	return admit.Update
}

// mutate has others change what the verb made.
func (w *writing) mutate(ctx context.Context) error {
	w.validates, w.unpruned = false, document.Value{}
	if w.all.Admission == nil {
		return nil
	}
	var mutates bool
	mutates, w.validates = w.all.Admission.Concern(w.Endpoint.subject(), w.operation())
	if !mutates {
		return nil
	}
	if err := w.asAdmitted(ctx); err != nil {
		return err
	}
	q, err := w.question(w.sentObject(), w.sentRevision)
	if err != nil {
		return err
	}
	if w.Endpoint.Subresource == scale {
		if q.Old, err = questioned(w.scaleBefore, w.liveRevision()); err != nil {
			return err
		}
	}
	before := q.Object
	if err := w.all.Admission.Mutate(ctx, q); err != nil {
		return err
	}
	if document.Same(before, q.Object) {
		return nil
	}
	made, err := q.Made()
	if err != nil {
		return err
	}
	return w.takeMutated(made)
}

// asAdmitted makes of what the verb wants what Kubernetes has at this time: typed, with defaults, and with what its own
// admission plugins set. What is done here is done again later to what comes out, and changes no more then.
func (w *writing) asAdmitted(ctx context.Context) (err error) {
	e := w.Endpoint
	if w.after.Document, err = w.clean(e.values, w.after.Document); err != nil {
		return err
	}
	w.after.Document = e.values.Default(w.after.Document)
	if e.objectVersion != e.storedVersion {
		return nil // the kinds that get something have one version
	}
	w.after.Document, err = w.amend(ctx, w.after.Document)
	return err
}

// sentObject is the object as those see it who mutate: without what is not known yet when it is created. A scale has the
// owners that it shares with the object.
func (w *writing) sentObject() apply.Object {
	object := w.after
	if w.Endpoint.Subresource == scale {
		return w.scaleAfter
	}
	if w.live != nil {
		return object
	}
	metadata := object.Document.Get("metadata")
	for _, name := range []string{"uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"} {
		metadata = metadata.Without(name)
	}
	if w.prefix != "" {
		metadata = metadata.Without("name")
	}
	object.Document = object.Document.With("metadata", metadata)
	return object
}

// badEntries is for objects whose managedFields can't be read after they were mutated.
const badEntries = ".metadata.managedFields was in an invalid state after admission; this could be caused by an outdated mutating admission controller; please fix your requests: %v"

// takeMutated takes over what others made of an object.
func (w *writing) takeMutated(doc document.Value) error {
	e := w.Endpoint
	if err := w.checkMutatedRevision(doc.Lookup("metadata", "resourceVersion").Text()); err != nil {
		return err
	}
	if e.Subresource == scale {
		return w.takeScale(doc)
	}
	doc, err := w.place(doc)
	if err != nil {
		return err
	}
	if w.prefix != "" && doc.Lookup("metadata", "name").IsAbsent() {
		doc = doc.With("metadata", doc.Get("metadata").With("name", document.NewString(w.Name)))
	}
	if name := doc.Lookup("metadata", "name").Text(); name != w.Name {
		return Invalid(e.errorKind(), w.Name, field.ErrorList{
			field.Invalid(field.NewPath("metadata", "name"), name, "field is immutable"),
		})
	}
	if err := (reader{e}).checkNulls(doc); err != nil {
		return err
	}
	entries := w.after.Entries
	if split, err := apply.SplitObject(doc); err == nil {
		entries = split.Entries
	} else {
		w.all.Metrics.ManagedFields(metrics.Repaired, len(entries))
		w.Warn(fmt.Sprintf(badEntries, err))
	}
	metadata := doc.Get("metadata").Without("resourceVersion").Without("selfLink").Without("managedFields")
	w.after = apply.Object{Document: w.onceReferred(doc.With("metadata", metadata), asMerged), Entries: entries}
	return w.dropUnknown()
}

// dropUnknown drops what a custom resource does not have and others gave it. Those who validate see it, as in Kubernetes.
func (w *writing) dropUnknown() error {
	if !w.Endpoint.isCustomObject() {
		return nil
	}
	known, unknown, err := readSilently(w.Endpoint.values, w.after.Document)
	if err != nil {
		return apierrors.NewInternalError(err)
	}
	if len(unknown) > 0 {
		w.unpruned = w.after.Document
	}
	w.after.Document = known
	return nil
}

// seen returns the object as those see it who validate: with what it does not keep. Its generation is the one that it gets.
func (w *writing) seen() document.Value {
	metadata := w.after.Document.Get("metadata")
	if w.unpruned.IsAbsent() {
		return w.checked.With("metadata", metadata)
	}
	e := w.Endpoint
	doc := e.Kind.Prepare(e.Subresource, w.unpruned, w.stored, kinds.Write{Version: e.Version, Time: w.all.Now(), User: kinds.User(*w.User)})
	known, _, _ := readSilently(e.values, w.unpruned) // which could be read before
	for i, all := 0, w.unpruned.Get("metadata"); i < all.Len(); i++ {
		if name := all.Name(i); known.Lookup("metadata", name).IsAbsent() {
			metadata = metadata.With(name, all.At(i))
		}
	}
	return doc.With("metadata", metadata)
}

// takeScale takes over what others made of a scale.
func (w *writing) takeScale(doc document.Value) error {
	if err := w.checkScaled(doc); err != nil && !w.Endpoint.Kind.Custom {
		return err
	}
	w.after.Document = w.Endpoint.Kind.Scaled(w.after.Document, doc)
	return nil
}

// checkMutatedRevision takes a resourceVersion that was set by those who mutate for what it is when clients send it:
// the one that the object must have. It is their mistake, and not the client's.
func (w *writing) checkMutatedRevision(version string) error {
	if version == "" || version == "0" || version == w.sentRevision {
		return nil
	}
	revision, err := strconv.ParseUint(version, 10, 64)
	switch {
	case w.live != nil && err == nil && revision != uint64(w.live.Revision()):
		return w.staleError()
	case w.isCreated && err == nil && !w.DryRun:
		return &apierrors.StatusError{ErrStatus: metav1.Status{
			Status: metav1.StatusFailure, Code: http.StatusInternalServerError, Message: versionedNew,
		}}
	case !w.isCreated && err != nil:
		return apierrors.NewInternalError(fmt.Errorf("an admission webhook set the resourceVersion: expected a number, received %q", version))
	}
	return nil
}

// admit has others refuse an object that is right by the rules of its kind.
func (w *writing) admit(ctx context.Context) error {
	if !w.validates {
		return nil
	}
	e, object := w.Endpoint, w.after
	var err error
	if object.Document, err = e.fromStored(w.seen()); err != nil {
		return err
	}
	if e.Subresource == scale {
		object.Entries = nil // who owns what is shown by the object only
		if object.Document, err = e.Kind.ScaleOf(w.after.Document); err != nil {
			return err
		}
	}
	q, err := w.question(object, w.liveRevision())
	if err != nil {
		return err
	}
	return w.all.Admission.Validate(ctx, q)
}

// admitDeletion has others refuse a deletion. There is nothing that they could change.
func (o *Objects) admitDeletion(ctx context.Context, d *Deletion, live *cache.Object) error {
	if o.Admission == nil {
		return nil
	}
	mutates, validates := o.Admission.Concern(d.Endpoint.subject(), admit.Delete)
	if !mutates && !validates {
		return nil
	}
	q, err := o.deletionQuestion(d, live)
	if err != nil {
		return err
	}
	if mutates {
		if err := o.Admission.Mutate(ctx, q); err != nil {
			return deletionError(err)
		}
	}
	if !validates {
		return nil
	}
	return deletionError(o.Admission.Validate(ctx, q))
}

// deletionError keeps what is said about a deletion from looking like a lost race.
func deletionError(err error) error {
	if err == nil || isStatus(err) {
		return err
	}
	return apierrors.NewInternalError(err)
}
