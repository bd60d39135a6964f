package registry

import (
	"time"

	"k8s.io/apiserver/pkg/authentication/user"

	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
)

// prepare returns the object to be stored: it converts the admitted object to the storage version, restores the reset fields
// of the endpoint, and sets metadata such as uid and generation.
func (w *write) prepare(live *loaded, m merged, a *admitted) (*prepared, error) {
	e := w.Endpoint
	if live.object == nil {
		if _, err := w.checkType(live, a.object.Document); err != nil {
			return nil, err
		}
	}
	sent, err := e.toStored(w.withUniqueOwnerReferences(a.object.Document, duplicatesAfterAdmission))
	if err != nil {
		return nil, err
	}
	doc := sent
	if e.evolving != nil {
		doc = e.evolving.RoundTripped(doc)
	}
	if !m.wasSentWhole && document.Same(m.object.Document, live.current.Document) && !a.wasMutated() {
		doc = live.stored // only managed fields change; converting the stored object to the request's version and back could add fields
	}
	var defaulted document.Value
	if e.values == e.stored {
		defaulted = doc
	}
	if live.object == nil {
		doc = w.withNewMetadata(doc)
	} else {
		doc = withImmutableMetadata(doc, live.stored)
	}
	doc = e.Kind.Normalize(doc)
	if prepare := e.strategy.Prepare; prepare != nil && e.Subresource == "" {
		doc = prepare(doc, live.stored)
	}
	p := &prepared{unprepared: doc}
	p.object.Entries = a.object.Entries
	w.applyStrategy(live, p, doc, sent, defaulted)
	return p, nil
}

// wasMutated reports whether admission plugins have changed the object.
func (a *admitted) wasMutated() bool {
	return a.attributes != nil && (a.attributes.WasReturned() || a.mutated)
}

// checkType returns a 422 with all validation errors if the kind or apiVersion of a custom resource is not the endpoint's. A
// write to a subresource cannot change them: checkType then returns the document with the endpoint's kind and apiVersion.
func (w *write) checkType(live *loaded, doc document.Value) (document.Value, error) {
	e := w.Endpoint
	kind := doc.Get("kind").Text()
	if !e.isCustomObject() || kind == e.BodyKind && doc.Get("apiVersion").Text() == e.BodyVersion {
		return doc, nil
	}
	if e.Subresource != "" {
		return doc.With("kind", document.NewString(e.BodyKind)).With("apiVersion", document.NewString(e.BodyVersion)), nil
	}
	invalid := w.withNewMetadata(doc)
	if live.object != nil {
		invalid = withImmutableMetadata(doc, live.stored)
	}
	name := doc.Lookup("metadata", "name").Text()
	return doc, api.Invalid(e.errorKindOf(doc), name, e.values.Validate(invalid, live.current.Document))
}

// applyStrategy calls the kind's Prepare function on doc and sets the documents of p. sent is the object with all fields of
// the request's version. defaulted is doc before later changes, with defaults, or absent; only fields of doc that differ from
// defaulted are defaulted.
func (w *write) applyStrategy(live *loaded, p *prepared, doc, sent, defaulted document.Value) {
	e := w.Endpoint
	endpoint := e.Subresource
	if e.isProjected() {
		endpoint = "" // Prepare treats a write to a projection, such as a Scale, as a write to the object
	}
	write := api.Write{Version: e.Version, Time: w.Now(), User: apiUser(w.User)}
	strategy := func(doc document.Value) document.Value {
		if e.subresource != nil && e.subresource.Restrict != nil {
			doc = e.subresource.Restrict(doc, live.stored)
		}
		return e.Kind.Prepare(endpoint, doc, live.stored, write)
	}
	p.undefaulted = strategy(doc)
	p.object.Document = e.stored.DefaultChanged(p.undefaulted, defaulted)
	p.validated = p.object.Document
	if e.evolving == nil {
		return
	}
	p.object.Document = e.evolving.RoundTripped(p.object.Document)
	// The storage version may not define all fields of the request's version. The object is validated with all fields, because
	// required fields could be among the dropped fields.
	if all := sent.With("metadata", doc.Get("metadata")); !document.Equal(all, doc) {
		p.undefaulted = strategy(all)
		p.validated = e.stored.DefaultChanged(p.undefaulted, document.Value{})
	}
}

// withNewMetadata returns a new object with a generated uid and the current time as creationTimestamp.
func (w *write) withNewMetadata(doc document.Value) document.Value {
	metadata := doc.Get("metadata").
		With("creationTimestamp", document.NewString(w.Now().UTC().Format(time.RFC3339))).
		With("uid", document.NewString(string(uuid.NewUUID())))
	return withoutDeletionFields(doc.With("metadata", metadata)) // webhooks may have set deletion fields
}

// withImmutableMetadata returns an object with the immutable metadata fields of the live object. It retains the client's uid,
// deletionGracePeriodSeconds and, if the live object has none, deletionTimestamp; validation rejects them if they differ from
// the live values.
func withImmutableMetadata(doc, stored document.Value) document.Value {
	live, metadata := stored.Get("metadata"), doc.Get("metadata")
	for _, name := range []string{"creationTimestamp", "generation"} {
		metadata = withField(metadata, name, live.Get(name))
	}
	if timestamp := live.Get("deletionTimestamp"); !timestamp.IsAbsent() {
		metadata = metadata.With("deletionTimestamp", timestamp) // validation rejects the client's value if the live object has none
	}
	for _, name := range []string{"uid", "deletionGracePeriodSeconds"} {
		if metadata.Get(name).IsAbsent() {
			metadata = withField(metadata, name, live.Get(name))
		}
	}
	return doc.With("metadata", metadata)
}

// withField returns the map m with the named field set to v, or without that field if v is absent.
func withField(m document.Value, name string, v document.Value) document.Value {
	if v.IsAbsent() {
		return m.Without(name)
	}
	return m.With(name, v)
}

// apiUser converts a user to the type that Prepare functions of kinds receive. nil becomes the zero value.
func apiUser(u user.Info) api.User {
	if u == nil {
		return api.User{}
	}
	return api.User{Name: u.GetName(), UID: u.GetUID(), Groups: u.GetGroups(), Extra: u.GetExtra()}
}
