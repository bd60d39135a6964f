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

// handler serves a request, or returns the error to respond with.
type handler func(q *request) error

// filter runs before and after the handlers inside of it. It calls next, or returns an error instead.
type filter struct {
	name string
	run  func(q *request, next handler) error
}

// filters lists the filters of all requests, from the outermost to the innermost. To add one, write its run function in a
// file of its own and add a line here.
var filters = []filter{
	{"metrics and panics", observe},
	{"errors", writeErrors},
	{"unread bodies", limitUnreadBody},
	{"routing", route},
	{"authentication", authenticate},
	{"in-flight requests", limitInFlight},
	{"authorization", authorize},
}

// chain returns the handler that runs all filters around the innermost one.
func chain(filters []filter, innermost handler) handler {
	all := innermost
	for i := len(filters) - 1; i >= 0; i-- {
		run, next := filters[i].run, all
		all = func(q *request) error { return run(q, next) }
	}
	return all
}

// observe counts the request when it ends, and responds to one that panics with a 500: a panic ends only its request. A response
// that was sent in part is aborted.
func observe(q *request, next handler) error {
	defer q.finish()
	return next(q)
}

// writeErrors responds with the error of the request, if it has one.
func writeErrors(q *request, next handler) error {
	q.respondError(next(q))
	return nil
}

// limitUnreadBody limits the time that the server waits for a body that no handler reads: HTTP/1 receives it before it
// sends the response, also if the request is rejected. The response may take twice the time of a request.
func limitUnreadBody(q *request, next handler) error {
	if q.r.ProtoMajor == 1 && q.r.ContentLength != 0 {
		_ = http.NewResponseController(q.w.ResponseWriter).SetReadDeadline(q.start.Add(q.h.Limits.RequestTimeout * 3 / 2))
	}
	return next(q)
}

// route parses the path and the verb.
func route(q *request, next handler) error {
	q.readTarget()
	q.findExtra()
	return next(q)
}

// authenticate identifies the user, and the user to impersonate.
func authenticate(q *request, next handler) error {
	if err := q.authenticate(); err != nil {
		return err
	}
	return next(q)
}

// limitInFlight rejects requests with a 429 while too many are active.
func limitInFlight(q *request, next handler) error {
	leave, err := q.enter()
	if err != nil {
		return err
	}
	defer leave()
	return next(q)
}

// authorize rejects requests that the user may not make.
func authorize(q *request, next handler) error {
	if err := q.authorize(); err != nil {
		return err
	}
	return next(q)
}

// finish is the deferred part of observe.
func (q *request) finish() {
	reason := recover()
	aborted := reason != nil && q.w.code != 0 // part of the response was sent
	if err, ok := reason.(error); ok && errors.Is(err, http.ErrAbortHandler) {
		aborted = true // the handler aborts the response on purpose
	} else if reason != nil {
		stack := debug.Stack()
		if p := (*parallel.Panic)(nil); errors.As(err, &p) {
			stack = p.Stack // of the goroutine that panicked
		}
		q.h.Log.Error("request panicked", "method", q.r.Method, "path", q.r.URL.Path, "panic", fmt.Sprint(reason), "stack", string(stack))
		if !aborted {
			q.respondFailure(encoding.StatusOf(apierrors.NewInternalError(errors.New("the request made the server panic; the server's log has the stack trace"))))
		}
	}
	q.count(time.Since(q.start))
	if aborted {
		panic(http.ErrAbortHandler) // net/http closes the connection or resets the stream
	}
}
