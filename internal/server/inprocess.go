package server

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strconv"
	"sync"
	"time"

	"k8s.io/apiserver/pkg/authentication/authenticator"
	"k8s.io/apiserver/pkg/authentication/user"
)

// InProcess serves requests of the same process without a socket: its transports call the handler. It is safe for concurrent
// use.
type InProcess struct {
	handler *Handler

	mu     sync.Mutex
	active map[*exchange]struct{}
	// idle is closed when the last exchange ends after Stop; nil before Stop.
	idle chan struct{}
}

// errStopped is the error of requests to a server that is being stopped.
var errStopped = errors.New("in-process request: the server is stopped")

// NewInProcess returns the in-process side of a handler.
func NewInProcess(h *Handler) *InProcess {
	return &InProcess{handler: h, active: map[*exchange]struct{}{}}
}

// inProcessUserKey is the context key of the user of in-process requests.
type inProcessUserKey struct{}

// InProcessAuthenticator authenticates in-process requests as the user of their transport. A request with an Authorization
// header is left to other authenticators.
var InProcessAuthenticator authenticator.Request = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
	u, ok := r.Context().Value(inProcessUserKey{}).(user.Info)
	if !ok || r.Header["Authorization"] != nil {
		return nil, false, nil
	}
	return &authenticator.Response{User: u}, true, nil
})

// Transport returns a transport whose requests are authenticated as a user.
func (p *InProcess) Transport(u user.Info) http.RoundTripper {
	return &inProcessTransport{server: p, user: u}
}

// Stop rejects new requests, waits for active ones until the context ends, and then aborts them. The handler must be draining,
// so that watches end.
func (p *InProcess) Stop(ctx context.Context) error {
	p.mu.Lock()
	if p.idle == nil {
		p.idle = make(chan struct{})
		if len(p.active) == 0 {
			close(p.idle)
		}
	}
	idle := p.idle
	p.mu.Unlock()
	select {
	case <-idle:
		return nil
	default:
	}
	select {
	case <-idle:
		return nil
	case <-ctx.Done():
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	for e := range p.active {
		e.abort(errStopped)
	}
	return ctx.Err()
}

func (p *InProcess) add(e *exchange) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		return false
	}
	p.active[e] = struct{}{}
	return true
}

func (p *InProcess) remove(e *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.active, e)
	if p.idle != nil && len(p.active) == 0 {
		close(p.idle)
	}
}

type inProcessTransport struct {
	server *InProcess
	user   user.Info
}

// RoundTrip implements http.RoundTripper. The handler does not see values of the client's context, only its end.
func (t *inProcessTransport) RoundTrip(r *http.Request) (*http.Response, error) {
	if err := r.Context().Err(); err != nil {
		closeBody(r)
		return nil, err
	}
	e := &exchange{response: &http.Response{Request: r, Proto: "HTTP/2.0", ProtoMajor: 2, ContentLength: -1}, released: make(chan struct{})}
	e.changed.L = &e.mu
	e.client = r
	ctx, cancel := context.WithCancel(context.WithValue(context.Background(), inProcessUserKey{}, t.user))
	e.cancel = cancel
	if !t.server.add(e) {
		cancel()
		closeBody(r)
		return nil, errStopped
	}
	unlink := context.AfterFunc(r.Context(), func() { e.abort(context.Cause(r.Context())) })
	go func() {
		defer t.server.remove(e)
		defer cancel()
		defer unlink()
		e.serve(ctx, t.server.handler)
	}()
	<-e.released
	if e.response.Body == nil {
		return nil, e.error()
	}
	return e.response, nil
}

func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// maxPending is the maximum number of bytes of a response that are sent before the client reads them.
const maxPending = 64 << 10

// exchange is one in-process request and its response: the http.ResponseWriter of the handler, and the body of the
// client's response. The invariant is len(pending) ≤ maxPending.
type exchange struct {
	client   *http.Request
	response *http.Response // Body is nil until the header is sent
	cancel   context.CancelFunc
	released chan struct{} // closed when the client receives the response or an error

	header http.Header // of the handler

	mu           sync.Mutex
	changed      sync.Cond // pending, err or writeErr have changed
	isReleased   bool
	discardsBody bool // the response has no body: HEAD, 204, 304
	pending      []byte
	// err ends reads after pending is read: io.EOF, or the reason of an abort. writeErr fails writes.
	err, writeErr error
	readTimer     *time.Timer
	writeTimer    *time.Timer
}

// serve calls the handler.
func (e *exchange) serve(ctx context.Context, h *Handler) {
	defer func() {
		if reason := recover(); reason != nil { // the filters answer other panics than http.ErrAbortHandler
			e.abort(io.ErrUnexpectedEOF)
		}
		closeBody(e.client)
		e.finish()
	}()
	h.ServeHTTP(e, e.request(ctx))
}

// request returns the request as the handler sees it. The client's request must not be changed.
func (e *exchange) request(ctx context.Context) *http.Request {
	c := e.client
	r := &http.Request{
		Method: c.Method, URL: c.URL, Proto: "HTTP/2.0", ProtoMajor: 2, Header: c.Header.Clone(), Host: c.Host,
		ContentLength: c.ContentLength, Body: c.Body, RequestURI: c.URL.RequestURI(), RemoteAddr: "in-process",
	}
	if r.Method == "" {
		r.Method = http.MethodGet
	}
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if r.Host == "" {
		r.Host = c.URL.Host
	}
	if r.Body == nil {
		r.Body = http.NoBody
	}
	return r.WithContext(ctx)
}

// abort ends the request: it cancels the context of the handler, and fails reads and writes of the body.
func (e *exchange) abort(err error) {
	e.cancel()
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.err, e.pending = err, nil
	}
	if e.writeErr == nil {
		e.writeErr = err
	}
	e.releaseClient(false)
	e.changed.Broadcast()
}

// finish ends the response after the handler has returned.
func (e *exchange) finish() {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.err == nil {
		e.sendHeader(http.StatusOK)
		e.err = io.EOF
	}
	if e.writeErr == nil {
		e.writeErr = http.ErrHandlerTimeout // a write after the handler has returned
	}
	for _, timer := range []*time.Timer{e.readTimer, e.writeTimer} {
		if timer != nil {
			timer.Stop()
		}
	}
	e.releaseClient(false)
	e.changed.Broadcast()
}

// releaseClient lets RoundTrip return, with the response or with the error. The caller holds the lock.
func (e *exchange) releaseClient(hasResponse bool) {
	if e.isReleased {
		return
	}
	e.isReleased = true
	if hasResponse {
		e.response.Body = (*exchangeBody)(e)
	}
	close(e.released)
}

func (e *exchange) error() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.err
}

// Header implements http.ResponseWriter.
func (e *exchange) Header() http.Header {
	if e.header == nil {
		e.header = http.Header{}
	}
	return e.header
}

// WriteHeader implements http.ResponseWriter.
func (e *exchange) WriteHeader(code int) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sendHeader(code)
}

// sendHeader sends the header unless it is sent. The caller holds the lock.
func (e *exchange) sendHeader(code int) {
	if e.isReleased || code < http.StatusOK { // informational responses are not passed on
		return
	}
	e.response.StatusCode, e.response.Status = code, strconv.Itoa(code)+" "+http.StatusText(code)
	e.response.Header = e.header.Clone()
	if e.response.Header == nil {
		e.response.Header = http.Header{}
	}
	if length, err := strconv.ParseInt(e.header.Get("Content-Length"), 10, 64); err == nil {
		e.response.ContentLength = length
	}
	e.discardsBody = e.client.Method == http.MethodHead || code == http.StatusNoContent || code == http.StatusNotModified
	e.releaseClient(true)
}

// Write implements http.ResponseWriter. It blocks while maxPending bytes are unread.
func (e *exchange) Write(p []byte) (n int, err error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.isReleased && e.Header()["Content-Type"] == nil {
		e.header.Set("Content-Type", http.DetectContentType(p))
	}
	e.sendHeader(http.StatusOK)
	if e.discardsBody {
		return len(p), nil
	}
	for len(p) > 0 {
		for len(e.pending) >= maxPending && e.writeErr == nil {
			e.changed.Wait()
		}
		if e.writeErr != nil {
			return n, e.writeErr
		}
		part := min(len(p), maxPending-len(e.pending))
		e.pending = append(e.pending, p[:part]...)
		n, p = n+part, p[part:]
		e.changed.Broadcast()
	}
	return n, e.writeErr
}

// FlushError implements the interface of http.ResponseController. Writes need no flush; it sends the header.
func (e *exchange) FlushError() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sendHeader(http.StatusOK)
	return e.writeErr
}

// Flush implements http.Flusher.
func (e *exchange) Flush() { _ = e.FlushError() }

// SetWriteDeadline implements the interface of http.ResponseController.
func (e *exchange) SetWriteDeadline(t time.Time) error {
	e.setTimer(&e.writeTimer, t, func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		if e.writeErr == nil {
			e.writeErr = os.ErrDeadlineExceeded
		}
		e.changed.Broadcast()
	})
	return nil
}

// SetReadDeadline implements the interface of http.ResponseController: it closes the client's body at the deadline.
func (e *exchange) SetReadDeadline(t time.Time) error {
	e.setTimer(&e.readTimer, t, func() { closeBody(e.client) })
	return nil
}

// setTimer replaces a timer. The zero time means none; a time in the past calls f at once.
func (e *exchange) setTimer(timer **time.Timer, t time.Time, f func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if *timer != nil {
		(*timer).Stop()
		*timer = nil
	}
	if !t.IsZero() {
		*timer = time.AfterFunc(time.Until(t), f)
	}
}

// exchangeBody is the body of the response as the client sees it.
type exchangeBody exchange

// Read implements io.Reader.
func (b *exchangeBody) Read(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(p) == 0 {
		return 0, nil
	}
	for len(b.pending) == 0 && b.err == nil {
		b.changed.Wait()
	}
	if len(b.pending) == 0 {
		return 0, b.err
	}
	n := copy(p, b.pending)
	if b.pending = b.pending[n:]; len(b.pending) == 0 {
		b.pending = nil
	}
	b.changed.Broadcast()
	return n, nil
}

// Close implements io.Closer: it ends the request.
func (b *exchangeBody) Close() error {
	(*exchange)(b).abort(http.ErrBodyReadAfterClose)
	return nil
}
