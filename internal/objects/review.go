package objects

import (
	"context"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admit"
)

// Review has those who are asked about writes look at a question about users, which is answered and never stored. It
// returns the question as they leave it; absent if there is nobody to ask.
func (o *Objects) Review(ctx context.Context, r *Request) (document.Value, error) {
	if o.Admission == nil {
		return document.Value{}, nil
	}
	if mutating, validating := o.Admission.Concern(r.Endpoint.subject(), admit.Create); !mutating && !validating {
		return document.Value{}, nil
	}
	body, err := r.read(document.Value{})
	if err != nil {
		return document.Value{}, err
	}
	if body.document, err = r.clean(r.Endpoint.body, body.document); err != nil {
		return document.Value{}, err
	}
	r.Name = body.document.Lookup("metadata", "name").Text()
	w := &writing{all: o, Request: r, isCreated: true}
	doc, err := w.place(body.document)
	if err != nil {
		return document.Value{}, err
	}
	w.after.Document = r.Endpoint.whole(withoutDeletion(doc)) // nobody owns what is not stored
	if err := w.mutate(ctx); err != nil {
		return document.Value{}, err
	}
	w.checked = w.after.Document
	return w.after.Document, w.admit(ctx)
}
