package registry

import (
	"errors"
	"slices"

	apivalidation "k8s.io/apimachinery/pkg/api/validation"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/ownership"
)

// Migration from client-side to server-side apply
//
// kubectl's client-side apply stores its last configuration in an annotation, and its field manager differs from that of
// kubectl's server-side apply ("kubectl"). When a user changes to server-side apply, the fields in the annotation would
// conflict with the field manager of client-side apply. Therefore Kubernetes lets the field manager "kubectl" take ownership
// of the fields in the annotation that it applies, and keeps the annotation up to date for clients that return to client-side
// apply. Fields that the new configuration omits remain owned by the field manager of client-side apply.
//
// Request.TakeOver instead transfers all fields of client-side apply to the applier, independent of its field manager. Then
// fields that the new configuration omits are removed (KEP-3517).

// applyConfiguration applies a configuration to an object. With TakeOver, it first transfers the fields of client-side apply
// to the applier.
func (w *write) applyConfiguration(live apply.Object, config document.Value, r *apply.Request) (apply.Result, error) {
	if w.TakeOver {
		return w.applyTakingOver(live, config, r)
	}
	return w.applyOnce(live, config, r)
}

// applyTakingOver is applyConfiguration with TakeOver. An object without managed fields gets its first entries by the apply; then
// the fields are transferred and the configuration is applied a second time, as kubectl does.
//
// It is not inlined, so that applies without TakeOver do not need its stack frame; see growStack in package server.
//
//go:noinline
func (w *write) applyTakingOver(live apply.Object, config document.Value, r *apply.Request) (result apply.Result, err error) {
	if live.Entries, err = w.takeOverEntries(live); err != nil {
		return result, err
	}
	result, err = w.applyOnce(live, config, r)
	if err != nil || len(live.Entries) > 0 {
		return result, err
	}
	moved, err := ownership.TakeOver(result.Object, w.Manager)
	if err != nil || moved.NoOp() {
		return result, err
	}
	return w.applyOnce(apply.Object{Document: result.Object.Document, Entries: moved.Entries}, config, r)
}

// applyOnce applies a configuration to an object once, without the transfer of TakeOver.
func (w *write) applyOnce(live apply.Object, config document.Value, r *apply.Request) (apply.Result, error) {
	if w.Manager == ownership.KubectlManager {
		return w.applyAsKubectl(live, config, r)
	}
	return w.Endpoint.engine.Apply(live, config, *r)
}

// applyAsKubectl is applyOnce for the field manager "kubectl": it resolves conflicts about fields in the last-applied annotation,
// and updates the annotation.
//
// It is not inlined, so that other applies do not need its stack frame; see growStack in package server.
//
//go:noinline
func (w *write) applyAsKubectl(live apply.Object, config document.Value, r *apply.Request) (apply.Result, error) {
	result, err := w.Endpoint.engine.Apply(live, config, *r)
	var conflict *apply.ConflictError
	if errors.As(err, &conflict) {
		result, err = w.applyOverAnnotation(live, config, conflict, r)
	}
	if err != nil {
		return result, err
	}
	result.Object.Document = withLastApplied(result.Object.Document, config)
	return result, nil
}

// takeOverEntries returns the managed fields entries of the object after the fields of client-side apply were transferred to
// the applier. If an entry of the applier is at another version, the object is converted to that version first, because only
// field sets of one version can be united. Entries whose version no longer exists are dropped.
func (w *write) takeOverEntries(live apply.Object) ([]apply.Entry, error) {
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
	return w.takeOverEntries(live)
}

// applyOverAnnotation applies a configuration with force if all conflicts are about fields in the last-applied annotation. If
// there are conflicts about other fields, it returns a *apply.ConflictError with these conflicts.
func (w *write) applyOverAnnotation(live apply.Object, config document.Value, conflict *apply.ConflictError, r *apply.Request) (apply.Result, error) {
	own, ok := w.lastApplied(live)
	if !ok {
		return apply.Result{}, conflict
	}
	clientSide, err := ownership.ClientSideManagers(live)
	if err != nil {
		return apply.Result{}, err
	}
	var markers fieldset.Set
	if w.hasMarkers(config) {
		markers = markerSet(w.Endpoint.topology, config)
	}
	var others []apply.Conflict
	for _, c := range conflict.Conflicts {
		if !own.Has(c.Path) && !isUnsetDefault(c, markers, own, clientSide) {
			others = append(others, c)
		}
	}
	if len(others) > 0 {
		return apply.Result{}, &apply.ConflictError{Manager: conflict.Manager, Conflicts: others}
	}
	forced := *r
	forced.Force = true
	return w.Endpoint.engine.Apply(live, config, forced)
}

// isUnsetDefault reports whether a conflict is about a default inside of a field or list item that one of the unset markers removes
// and that the last-applied annotation contains. The annotation does not contain the default itself, which only client-side
// apply owns, because it created the object.
func isUnsetDefault(c apply.Conflict, markers, own fieldset.Set, clientSide []ownership.Selector) bool {
	depth := 1
	for depth <= len(c.Path) && !markers.Has(c.Path[:depth]) {
		depth++
	}
	if depth > len(c.Path) || !own.Has(c.Path[:depth]) && own.At(c.Path[:depth]).IsEmpty() {
		return false
	}
	return !slices.ContainsFunc(c.Owners, func(e apply.Entry) bool {
		return !slices.ContainsFunc(clientSide, func(s ownership.Selector) bool { return s.Selects(e) })
	})
}

// lastApplied returns the fields of the last-applied annotation whose values equal those of the live object. ok is false if
// there is no annotation, or if it cannot be decoded or is at another version.
func (w *write) lastApplied(live apply.Object) (own fieldset.Set, ok bool) {
	text := live.Document.Lookup("metadata", "annotations", ownership.LastAppliedAnnotation).Text()
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

// withLastApplied returns the object with the configuration in its last-applied annotation, if it has this annotation. The
// annotation is removed if the annotations would exceed their total size limit.
func withLastApplied(doc, config document.Value) document.Value {
	metadata := doc.Get("metadata")
	annotations := metadata.Get("annotations")
	if annotations.Get(ownership.LastAppliedAnnotation).Text() == "" {
		return doc
	}
	if sent := config.Get("metadata"); !sent.Get("annotations").IsAbsent() {
		config = config.With("metadata", sent.With("annotations", sent.Get("annotations").Without(ownership.LastAppliedAnnotation)))
	}
	text := document.NewString(config.JSON() + "\n")
	if document.Equal(annotations.Get(ownership.LastAppliedAnnotation), text) {
		return doc
	}
	annotations = annotations.With(ownership.LastAppliedAnnotation, text)
	if annotationsSize(annotations) > apivalidation.TotalAnnotationSizeLimitB {
		annotations = annotations.Without(ownership.LastAppliedAnnotation)
	}
	if annotations.Len() == 0 {
		return doc.With("metadata", metadata.Without("annotations"))
	}
	return doc.With("metadata", metadata.With("annotations", annotations))
}

// annotationsSize returns the total size of annotation names and values in bytes, which Kubernetes limits.
func annotationsSize(annotations document.Value) int {
	size := 0
	for name, value := range annotations.Fields() {
		size += len(name) + len(value.Text())
	}
	return size
}
