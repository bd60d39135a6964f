package server

import (
	"errors"
	"fmt"
	"net/http"
	"runtime/debug"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/lib/parallel"
)

// handler serves a request. If it returns an error, a filter responds with the Status of the error.
type handler func(q *request) error

// filter wraps the filters and the handler that follow it. Its function run either calls next or returns an error.
type filter struct {
	name string
	run  func(q *request, next handler) error
}

// filters lists the filters of all requests, from the outermost to the innermost. To add a filter, write its run function and
// add a line here.
var filters = []filter{
	{"access log", logAccess},
	{"metrics and panics", observe},
	{"audit", auditRequests},
	{"errors", writeErrors},
	{"unread bodies", limitUnreadBody},
	{"shutdown", leaveConnection},
	{"routing", route},
	{"authentication", authenticate},
	{"tracing", startTrace},
	{"authorization", authorize},
	{"memory", limitMemory},
	{"request body", receiveBody},
	{"priority and fairness", enterLevel},
}

// chain returns a handler that runs the filters around the innermost handler.
func chain(filters []filter, innermost handler) handler {
	all := innermost
	for i := len(filters) - 1; i >= 0; i-- {
		run, next := filters[i].run, all
		all = func(q *request) error { return run(q, next) }
	}
	return all
}

// observe records the metrics of the request when the request ends. If the request panics, observe logs the panic and responds
// with a 500, or aborts the response if a part of it was sent, so that a panic ends only its request.
func observe(q *request, next handler) error {
	defer q.finish()
	return next(q)
}

// writeErrors responds with the Status of the error that next returns, if it returns one.
func writeErrors(q *request, next handler) error {
	q.respondError(next(q))
	return nil
}

// limitUnreadBody limits the time that the server waits for a body that no handler reads. Over HTTP/1, net/http reads the rest
// of a body before it sends the response, even if the request is rejected. The limit is 1.5 times RequestTimeout, so it ends
// before the write timeout of the connection, which is twice RequestTimeout.
//
// An HTTP/1 connection is closed after a request with Transfer-Encoding: if the request also has a Content-Length, which net/http
// drops, a proxy in front of the server may see the end of the request elsewhere, and take a part of its body for the next request.
func limitUnreadBody(q *request, next handler) error {
	if q.r.ProtoMajor == 1 && q.r.ContentLength != 0 {
		_ = http.NewResponseController(q.w.ResponseWriter).SetReadDeadline(q.start.Add(q.h.Limits.RequestTimeout * 3 / 2))
	}
	if q.r.ProtoMajor == 1 && len(q.r.TransferEncoding) > 0 {
		q.w.Header().Set("Connection", "close")
	}
	return next(q)
}

// leaveConnection closes an HTTP/1 connection after the response while the server is about to stop. The client does not send its next
// request on a connection that the server may be closing; HTTP/2 has GOAWAY for this.
func leaveConnection(q *request, next handler) error {
	if q.r.ProtoMajor == 1 && q.h.isStopping.Load() {
		q.w.Header().Set("Connection", "close")
	}
	return next(q)
}

// route parses the path and the verb, and finds the handler in Options.Handlers that serves the path, if there is one.
func route(q *request, next handler) error {
	q.readTarget()
	q.findExtra()
	return next(q)
}

// authenticate sets the user of the request. It returns a 401 if the request is not authenticated, and a 403 if its
// impersonation is not allowed.
func authenticate(q *request, next handler) error {
	if err := q.authenticate(); err != nil {
		return err
	}
	return next(q)
}

// authorize returns a 403 if the user may not make the request.
func authorize(q *request, next handler) error {
	if err := q.authorize(); err != nil {
		return err
	}
	return next(q)
}

// receiveBody reads the body of a write before the request occupies seats, so that a slow client occupies none. An error is that of
// the handler that uses the body.
func receiveBody(q *request, next handler) error {
	if q.target.isResource() && q.r.Method != http.MethodGet && q.r.Method != http.MethodHead {
		q.trace.Stage("receive body")
		q.text, q.textErr = q.receiveText()
	}
	return next(q)
}

// enterLevel waits for the seats of the request, and returns a 429 if it gets none.
func enterLevel(q *request, next handler) error {
	q.trace.Stage("wait for seats")
	if err := q.enter(); err != nil {
		return err
	}
	defer q.ticket.Release()
	q.trace.Stage("handle")
	return next(q)
}

// dispatch is the innermost handler. If the path refers to a resource, dispatch looks up the resource and calls the handler of
// the verb; otherwise it calls the handler of the path.
func (q *request) dispatch() error {
	if !q.target.isResource() {
		return q.serveNonResource()
	}
	if err := q.findKind(); err != nil {
		return err
	}
	return q.serveResource()
}

// serveResource calls the handler of the verb for the resource in q.kind. It returns a 405 if the resource does not support
// the verb.
func (q *request) serveResource() error {
	if q.r.Method == http.MethodHead {
		return q.methodNotAllowed() // Kubernetes does not support HEAD for resources, either
	}
	if q.kind.CreateOnly && q.target.name != "" {
		return resourceNotFound(fmt.Sprintf("objects of %s are not stored", q.kind))
	}
	if q.kind.CreateOnly && q.target.verb != "create" {
		return q.methodNotAllowed()
	}
	if q.kind.CreateOnly && q.kind.ActsOn == "" {
		return q.review()
	}
	switch q.target.verb {
	case "get":
		return q.get()
	case "list":
		return q.list()
	case "watch":
		return q.watch()
	case "create":
		return q.create()
	case "update":
		return q.update()
	case "patch":
		return q.patch()
	case "delete":
		return q.delete()
	case "deletecollection":
		return q.deleteCollection()
	default:
		return q.methodNotAllowed()
	}
}

// finish implements observe after the request has returned or panicked. It must be called by defer, because it recovers.
func (q *request) finish() {
	reason := recover()
	aborted := reason != nil && q.w.code != 0 // a part of the response was sent before the panic
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		aborted = true // the handler panicked to abort the response
	} else if reason != nil {
		stack := debug.Stack()
		if p := (*parallel.Panic)(nil); errors.As(err, &p) {
			stack = p.Stack // the stack of the goroutine that panicked, which is another goroutine than that of the request
		}
		q.h.Log.Error("request panicked", "method", q.r.Method, "path", q.r.URL.Path, "panic", fmt.Sprint(reason), "stack", string(stack))
		if !aborted {
			q.respondFailure(encoding.StatusOf(apierrors.NewInternalError(errors.New("the request made the server panic; the server's log has the stack trace"))))
		}
	}
	q.count(time.Since(q.start))
	q.trace.End(q.w.code)
	if aborted {
		panic(http.ErrAbortHandler) // net/http closes the connection or resets the stream
	}
}
