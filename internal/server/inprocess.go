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

// InProcess serves requests of clients in the same process without a socket, by calling the handler. It is safe for concurrent
// use.
type InProcess struct {
	handler *Handler

	mu     sync.Mutex
	active map[*exchange]struct{} // the exchanges whose handlers have not returned
	// idle is nil until Stop is called. Then it is closed when there are no active exchanges.
	idle chan struct{}
}

// errStopped is the error of in-process requests after Stop has been called.
var errStopped = errors.New("in-process request: the server is stopped")

// NewInProcess returns an InProcess that serves requests with a handler.
func NewInProcess(h *Handler) *InProcess {
	return &InProcess{handler: h, active: map[*exchange]struct{}{}}
}

// inProcessUserKey is the key of the context value that holds the user of an in-process request.
type inProcessUserKey struct{}

// InProcessAuthenticator authenticates in-process requests as the user of their transport. It skips requests with an
// Authorization header, so that other authenticators can authenticate them.
var InProcessAuthenticator authenticator.Request = authenticator.RequestFunc(func(r *http.Request) (*authenticator.Response, bool, error) {
	u, ok := r.Context().Value(inProcessUserKey{}).(user.Info)
	if !ok || r.Header["Authorization"] != nil {
		return nil, false, nil
	}
	return &authenticator.Response{User: u}, true, nil
})

// Transport returns an http.RoundTripper whose requests are authenticated as the user u.
func (p *InProcess) Transport(u user.Info) http.RoundTripper {
	return &inProcessTransport{server: p, user: u}
}

// Stop rejects new requests and waits until active requests have finished. If the context ends before that, Stop aborts the
// active requests and returns the error of the context. The caller must call Handler.Drain first, so that watches end.
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

// add adds e to the active exchanges. It returns false if Stop has been called.
func (p *InProcess) add(e *exchange) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.idle != nil {
		return false
	}
	p.active[e] = struct{}{}
	return true
}

// remove removes e from the active exchanges after its handler has returned.
func (p *InProcess) remove(e *exchange) {
	p.mu.Lock()
	defer p.mu.Unlock()
	delete(p.active, e)
	if p.idle != nil && len(p.active) == 0 {
		close(p.idle)
	}
}

// inProcessTransport is an http.RoundTripper that serves requests in process as a user.
type inProcessTransport struct {
	server *InProcess
	user   user.Info
}

// RoundTrip implements http.RoundTripper. The context of the handler ends with the client's context, but does not contain its
// values.
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

// closeBody closes the body of a client's request, if it has one.
func closeBody(r *http.Request) {
	if r.Body != nil {
		_ = r.Body.Close()
	}
}

// maxPending is the maximum number of bytes of a response that the handler can write before the client reads them.
const maxPending = 64 << 10

// exchange is an in-process request and its response. It is both the http.ResponseWriter of the handler and, as exchangeBody,
// the body of the response that the client reads. The invariant is len(pending) ≤ maxPending.
type exchange struct {
	client   *http.Request
	response *http.Response // Body is nil until the header is sent
	cancel   context.CancelFunc
	released chan struct{} // closed when the client receives the response or an error

	header http.Header // the header that the handler sets

	mu           sync.Mutex
	changed      sync.Cond // signalled when pending, err or writeErr has changed
	isReleased   bool
	discardsBody bool // reports whether the response has no body: HEAD, 204, 304
	pending      []byte
	// err is the error that the client's reads return after it has read pending: io.EOF, or the reason of an abort. writeErr is
	// the error that the handler's writes return; nil if writes succeed.
	err, writeErr error
	readTimer     *time.Timer
	writeTimer    *time.Timer
}

// serve calls the handler and ends the response.
func (e *exchange) serve(ctx context.Context, h *Handler) {
	defer func() {
		if reason := recover(); reason != nil { // the reason is http.ErrAbortHandler, because the filters handle all other panics
			e.abort(io.ErrUnexpectedEOF)
		}
		closeBody(e.client)
		e.finish()
	}()
	h.ServeHTTP(e, e.request(ctx))
}

// request returns the request that is passed to the handler. It is a copy, because the client's request must not be modified.
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

// abort ends the request: it cancels the context of the handler, and makes reads and writes of the response body fail with
// err.
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
		e.writeErr = http.ErrHandlerTimeout // the error of writes after the handler has returned
	}
	for _, timer := range []*time.Timer{e.readTimer, e.writeTimer} {
		if timer != nil {
			timer.Stop()
		}
	}
	e.releaseClient(false)
	e.changed.Broadcast()
}

// releaseClient makes RoundTrip return: the response if hasResponse is true, otherwise e.err. It has no effect after the
// first call. The caller holds the lock.
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

// error returns the error of reads of the response after the last byte.
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

// sendHeader passes the status code and the header to the client, unless an earlier call has done so. The caller holds the lock.
func (e *exchange) sendHeader(code int) {
	if e.isReleased || code < http.StatusOK { // informational (1xx) responses are not passed to the client
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

// Write implements http.ResponseWriter. It blocks while maxPending bytes are unread by the client.
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

// FlushError implements flushing for http.ResponseController. It only sends the header, because the client can read written
// data without a flush.
func (e *exchange) FlushError() error {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.sendHeader(http.StatusOK)
	return e.writeErr
}

// Flush implements http.Flusher.
func (e *exchange) Flush() { _ = e.FlushError() }

// SetWriteDeadline implements write deadlines for http.ResponseController: writes fail after t.
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

// SetReadDeadline implements read deadlines for http.ResponseController: the body of the client's request is closed at t.
func (e *exchange) SetReadDeadline(t time.Time) error {
	e.setTimer(&e.readTimer, t, func() { closeBody(e.client) })
	return nil
}

// setTimer replaces a timer with a new timer that calls f at t, or immediately if t is in the past. If t is zero, it only stops
// the timer.
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

// exchangeBody is the body of the response that the client reads.
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

// Close implements io.Closer. It aborts the request if the handler has not returned.
func (b *exchangeBody) Close() error {
	(*exchange)(b).abort(http.ErrBodyReadAfterClose)
	return nil
}
