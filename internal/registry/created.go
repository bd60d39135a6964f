package registry

import (
	"context"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/api"
)

// Values that the server sets when it creates an object
//
// An unset field that the server itself sets when it creates the object keeps its value, so that applying a configuration again is a
// no-op. managedFields do not distinguish such a value from one that the applier has applied. Therefore the apply engine compares
// the live value with the value that the field would have if an object were created now, from the fields that have a field manager;
// see [apply.Request].

// unsetRequest returns the parameters of an apply whose configuration contains unset markers.
func (w *write) unsetRequest(ctx context.Context, live *loaded) apply.Request {
	r := w.applyRequest()
	if w.Endpoint.Subresource == "" && live.object != nil {
		r.Created = func(owned document.Value) document.Value { return w.created(live, owned) }
		r.Admitted = func(owned document.Value) document.Value { return w.createdWithAdmission(ctx, live, owned) }
	}
	return r
}

// created returns the object that a create request with a document would store, at the endpoint's version, without admission. A
// resource that allocates values gets those of the live object. created returns the document itself if it cannot be converted.
func (w *write) created(live *loaded, doc document.Value) document.Value {
	e := w.Endpoint
	stored, err := e.toStored(e.complete(doc))
	if err != nil {
		return doc
	}
	if prepare := e.strategy.Prepare; prepare != nil {
		old := document.Value{}
		if e.strategy.Allocate != nil {
			old = live.stored
		}
		stored = prepare(stored, old)
	}
	stored = e.stored.Default(e.Kind.Prepare("", stored, document.Value{}, api.Write{Version: e.Version, Time: w.Now(), User: apiUser(w.User)}))
	at, err := e.fromStored(stored)
	if err != nil {
		return doc
	}
	return at
}

// createdWithAdmission is created with the changes of mutating admission to a dry run of the creation, in which the object has
// none of the metadata that the server sets. Webhooks are not called, because the client has not requested a creation, and
// plugins that reject the creation are ignored.
func (w *write) createdWithAdmission(ctx context.Context, live *loaded, doc document.Value) document.Value {
	plan := w.Endpoint.admission.Plan(admission.Create).Rehearsal()
	if !plan.Mutates() {
		return w.created(live, doc)
	}
	request, metadata := *w.Request, doc.Get("metadata")
	request.DryRun = true
	request.Warn = func(string) {}
	dryRun := *w
	dryRun.Request = &request
	sent := metadata
	for _, name := range serverMetadata {
		sent = sent.Without(name)
	}
	a, err := dryRun.mutate(ctx, &loaded{}, merged{object: apply.Object{Document: doc.With("metadata", sent)}}, plan)
	if err != nil {
		return w.created(live, doc)
	}
	admitted := a.object.Document
	sent = admitted.Get("metadata")
	for _, name := range serverMetadata {
		sent = withField(sent, name, metadata.Get(name))
	}
	return w.created(live, admitted.With("metadata", sent))
}

// serverMetadata are the metadata fields that only the server sets.
var serverMetadata = []string{"uid", "creationTimestamp", "generation", "resourceVersion", "deletionTimestamp", "deletionGracePeriodSeconds"}
