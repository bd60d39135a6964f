package server

import (
	"strings"

	"github.com/cadastre/cadastre/internal/lib/tracing"
)

// startTrace starts the span of the request, if requests are traced. finish ends it, because the response to an error is sent by an
// outer filter.
func startTrace(q *request, next handler) error {
	if q.h.Tracing == nil {
		return next(q)
	}
	ctx, span := q.h.Tracing.Start(tracing.Request{
		HTTP: q.r, Start: q.start, User: q.user, Name: q.spanName(), AuditID: q.responseAuditID(),
	})
	q.r, q.trace = q.r.WithContext(ctx), span
	return next(q)
}

// spanName returns the name of the span in kube-apiserver: the method and the path without names, or the method alone for paths that
// are not resources. The number of different names is bounded, as long as clients request resources that exist.
func (q *request) spanName() string {
	t := &q.target
	if !t.isResource() {
		return q.r.Method
	}
	var name strings.Builder
	name.WriteString(q.r.Method + " /api")
	if t.group != "" {
		name.WriteString("s/" + t.group)
	}
	name.WriteString("/" + t.version)
	if t.namespace != "" {
		name.WriteString("/namespaces/{:namespace}")
	}
	name.WriteString("/" + t.resource)
	if t.name != "" {
		name.WriteString("/{:name}")
	}
	if t.subresource != "" {
		name.WriteString("/" + t.subresource)
	}
	return name.String()
}
