package server

import (
	"fmt"
	"net/http"

	"github.com/cadastre/cadastre/internal/auth/authz/rbac"
	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/registry"
)

// review handles access reviews and token reviews, which are create requests whose object is returned with a status and never
// stored.
func (q *request) review() error {
	t := &q.target
	if !rbac.IsReview(t.group, t.resource) {
		return resourceNotFound(fmt.Sprintf("%s can't be created here", q.kind))
	}
	o, err := q.readWriteOptions("CreateOptions", "")
	if err != nil {
		return err
	}
	view, err := q.negotiate()
	if err != nil {
		return err
	}
	body, err := q.readBody()
	if err != nil {
		return err
	}
	doc, err := body.Parse()
	if err != nil {
		return err
	}
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	ctx, cancel := q.withTimeout()
	defer cancel()
	reviewed, err := q.h.Objects.Review(ctx, q.writeRequest(endpoint, body, &o, registry.ExistenceAny))
	if err != nil {
		return err
	}
	if !reviewed.IsAbsent() {
		doc = reviewed
	}
	result, err := q.h.Reviewer.Review(ctx, q.user, t.resource, t.namespace, doc.AppendJSON(nil))
	if err != nil {
		return err
	}
	return withBuffer(func(b []byte) ([]byte, error) {
		b, err := encoding.AppendObject(b, view, encoding.Text(result))
		if err != nil {
			return b, err
		}
		return b, q.respond(http.StatusCreated, view.ContentType(), b)
	})
}
