package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/fields"

	"github.com/cadastre/cadastre/internal/server/flowcontrol"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// The headers with the UIDs of the objects that classify a request, in canonical form.
const (
	schemaHeader = "X-Kubernetes-Pf-Flowschema-Uid"
	levelHeader  = "X-Kubernetes-Pf-Prioritylevel-Uid"
)

// enter waits until the request may execute, and returns a 429 if it may not. The caller releases q.ticket.
func (q *request) enter() error {
	t := &q.target
	q.flow = flowcontrol.Request{
		User: q.user, Verb: t.verb, Path: t.path,
		Group: t.group, Version: t.version, Resource: t.resource, Subresource: t.subresource, Namespace: t.namespace, Name: t.name,
		ReadOnly: q.r.Method == http.MethodGet || q.r.Method == http.MethodHead,
	}
	if q.flow.ReadOnly {
		q.flow.ResponseBytes = q.responseEstimate()
	}
	err := q.h.Flow.Enter(q.r.Context(), &q.ticket, &q.flow)
	if schema, level := q.ticket.UIDs(); schema != nil && level != nil {
		h := q.w.Header()
		h[schemaHeader], h[levelHeader] = schema, level
	}
	if rejected := (*flowcontrol.Rejected)(nil); errors.As(err, &rejected) {
		return apierrors.NewTooManyRequests(rejected.Error(), rejected.RetryAfter)
	}
	if err != nil {
		return err
	}
	q.w.progress = progress{
		limit: q.h.Limits.ProgressTimeout, setDeadline: http.NewResponseController(q.w.ResponseWriter).SetWriteDeadline,
		ticket: &q.ticket, stalls: &q.h.stalls, user: q.user.GetName(),
	}
	q.w.resume, q.w.isGuarded = q.resumeContext, true
	return nil
}

// resumeContext returns the context of a wait for seats after a stalled operation.
func (q *request) resumeContext() (context.Context, context.CancelFunc) {
	return context.WithTimeout(q.r.Context(), q.h.Limits.RequestTimeout)
}

// responseEstimate returns the estimated size of the response in bytes, 0 if it is small.
func (q *request) responseEstimate() int {
	t := &q.target
	switch {
	case t.path == "/openapi/v2":
		return 1 << 20
	case strings.HasPrefix(t.path, "/openapi/"), t.path == "/metrics":
		return 200 << 10
	case !t.isResource() || t.name != "":
		return 0
	case t.verb == "list", t.verb == "watch" && hasTrue(q.query(), "sendInitialEvents"):
	default:
		return 0
	}
	kind, ok := q.h.Kinds.Resource(t.group, t.version, t.resource)
	if !ok || kind.CreateOnly || q.nameInSelector() != "" {
		return 0
	}
	count, size := q.h.Cache.Size(kind.StoreName())
	if limit, err := readNumber(q.query(), "limit"); err == nil && limit > 0 {
		count = min(count, int(limit))
	}
	return count * size
}

// countWatch includes the watch in the estimate of the work of writes until end is called.
func (q *request) countWatch(s watchcache.Selection) (end func()) {
	var selector fields.Selector = s.Fields
	return q.h.Flow.Watch(&q.flow, selector)
}

// guardedBody is the body of a request that a handler reads itself. Reads that wait for the client occupy no seats.
type guardedBody struct {
	io.ReadCloser
	q        *request
	progress progress
}

// newGuardedBody returns a guard of the body of the request.
func (q *request) newGuardedBody() io.ReadCloser {
	return &guardedBody{q.r.Body, q, progress{
		limit: q.h.Limits.RequestTimeout, setDeadline: http.NewResponseController(q.w.ResponseWriter).SetReadDeadline, ticket: &q.ticket,
	}}
}

// Read implements io.Reader.
func (b *guardedBody) Read(p []byte) (int, error) {
	b.progress.start()
	n, err := b.ReadCloser.Read(p)
	if failed := b.progress.stop(b.q.resumeContext); err == nil {
		err = failed
	}
	return n, err
}
