package objects

import (
	"errors"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/ownership"
)

// kubectl applies by itself, too: it then keeps its last configuration in an annotation, and is
// known as another manager. Whoever goes from that to server-side apply would be in conflict with
// their former self. So Kubernetes lets the applier kubectl, and no other, take over what the
// annotation shows to be its own, and keeps the annotation up to date for those who go back. What the
// configuration leaves out stays, with its former owner; a request may say that all of it is taken over, by
// any applier, and then it goes.

// applyConfig applies a configuration to an object. An object that nobody owns yet gets an owner as it is applied to,
// and what was client-side apply's in it is taken over then, as kubectl does: so it is applied once more.
func (w *writing) applyConfig(live apply.Object, config document.Value) (apply.Result, error) {
	if w.TakeOver {
		var err error
		if live.Entries, err = w.entriesTakenOver(live); err != nil {
			return apply.Result{}, err
		}
	}
	result, err := w.applyOnce(live, config)
	if err != nil || !w.TakeOver || len(live.Entries) > 0 {
		return result, err
	}
	moved, err := ownership.TakeOver(result.Object, w.Manager)
	if err != nil || moved.NoOp() {
		return result, err
	}
	return w.applyOnce(apply.Object{Document: result.Object.Document, Entries: moved.Entries}, config)
}

// applyOnce applies a configuration to an object with the owners that it has.
func (w *writing) applyOnce(live apply.Object, config document.Value) (apply.Result, error) {
	result, err := w.Endpoint.engine.Apply(live, config, w.applyRequest())
	if w.Manager != ownership.Kubectl {
		return result, err
	}
	var conflict *apply.ConflictError
	if errors.As(err, &conflict) {
		result, err = w.applyOverAnnotation(live, config, conflict)
	}
	if err != nil {
		return result, err
	}
	result.Object.Document = withLastApplied(result.Object.Document, config)
	return result, nil
}

// entriesTakenOver returns the entries after the applier has got what client-side apply wrote. What comes together is
// told at the version of who gets it; a version that is gone has no owners any more.
func (w *writing) entriesTakenOver(live apply.Object) ([]apply.Entry, error) {
	moved, err := ownership.TakeOver(live, w.Manager)
	var other *ownership.OtherVersionError
	if !errors.As(err, &other) {
		return moved.Entries, err
	}
	version := other.Entry.APIVersion
	at, err := w.Endpoint.Kind.Convert(live.Document, other.Received, version)
	switch _, ok := w.Endpoint.Kind.Topology(version); {
	case !ok || errors.Is(err, apply.ErrVersionGone):
		live.Entries = slices.DeleteFunc(slices.Clone(live.Entries), func(e apply.Entry) bool { return e.APIVersion == version })
	case err != nil:
		return nil, err
	default:
		live.Document = at.With("apiVersion", document.NewString(version))
	}
	return w.entriesTakenOver(live)
}

// applyOverAnnotation applies a configuration that is in conflict, if it is so only with what the annotation
// has as well.
func (w *writing) applyOverAnnotation(live apply.Object, config document.Value, conflict *apply.ConflictError) (apply.Result, error) {
	own, ok := w.lastApplied(live)
	if !ok {
		return apply.Result{}, conflict
	}
	var others []apply.Conflict
	for _, c := range conflict.Conflicts {
		if !own.Has(c.Path) {
			others = append(others, c)
		}
	}
	if len(others) > 0 {
		return apply.Result{}, &apply.ConflictError{Manager: conflict.Manager, Conflicts: others}
	}
	forced := w.applyRequest()
	forced.Force = true
	return w.Endpoint.engine.Apply(live, config, forced)
}

// lastApplied returns the fields that the annotation of an object has, as far as the object has
// them unchanged.
func (w *writing) lastApplied(live apply.Object) (own fieldset.Set, ok bool) {
	text := live.Document.Lookup("metadata", "annotations", ownership.LastApplied).Text()
	if text == "" {
		return own, false
	}
	last, err := document.ParseJSON(text)
	if err != nil || last.Get("apiVersion").Text() != w.Endpoint.BodyVersion {
		return own, false
	}
	e, r := w.Endpoint.engine, w.applyRequest()
	alone, err := e.Apply(apply.Object{}, last, r)
	if err != nil || len(alone.Object.Entries) != 1 {
		return own, false
	}
	if own, err = alone.Object.Entries[0].Fields(); err != nil {
		return own, false
	}
	since, err := e.Update(apply.Object{Document: last}, live.Document, r)
	if err != nil {
		return own, false
	}
	changes := since.Changes()
	return own.Difference(changes.Modified).Difference(changes.Added).Difference(changes.Removed), true
}

// withLastApplied keeps the annotation of an object up to date, if it has one.
func withLastApplied(doc, config document.Value) document.Value {
	metadata := doc.Get("metadata")
	annotations := metadata.Get("annotations")
	if annotations.Get(ownership.LastApplied).Text() == "" {
		return doc
	}
	if of := config.Get("metadata"); !of.Get("annotations").IsAbsent() {
		config = config.With("metadata", of.With("annotations", of.Get("annotations").Without(ownership.LastApplied)))
	}
	text := document.NewString(config.JSON() + "\n")
	if document.Equal(annotations.Get(ownership.LastApplied), text) {
		return doc
	}
	annotations = annotations.With(ownership.LastApplied, text)
	if annotationsSize(annotations) > apivalidation.TotalAnnotationSizeLimitB {
		annotations = annotations.Without(ownership.LastApplied) // better none than one that is not up to date
	}
	if annotations.Len() == 0 {
		return doc.With("metadata", metadata.Without("annotations"))
	}
	return doc.With("metadata", metadata.With("annotations", annotations))
}

// annotationsSize is what the annotations of an object count against their limit.
func annotationsSize(annotations document.Value) int {
	size := 0
	for name, value := range annotations.Fields() {
		size += len(name) + len(value.Text())
	}
	return size
}
