package server

import (
	"bufio"
	"context"
	"errors"
	"io"
	"net/http"
	"runtime"
	"strconv"
	"sync"

	"github.com/klauspost/compress/gzip"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/encoding"
)

// responseWriter records the status code and the size of the response. While it is guarded, writes that wait for the client occupy
// no seats, and fail if the client makes no progress.
type responseWriter struct {
	http.ResponseWriter
	code      int
	bytes     int
	unyielded int // the bytes written since the last yield
	isGuarded bool
	progress  progress
	// resume returns the context of the wait for seats after a write that has stalled.
	resume func() (context.Context, context.CancelFunc)
	// audit receives the status code and the body; nil unless the request is recorded in the audit log.
	audit *auditRecord
}

// WriteHeader implements http.ResponseWriter.
func (w *responseWriter) WriteHeader(code int) {
	if w.code == 0 {
		w.code = code
		w.audit.start(code)
	}
	w.ResponseWriter.WriteHeader(code)
}

// Write implements http.ResponseWriter.
func (w *responseWriter) Write(p []byte) (int, error) {
	if w.code == 0 {
		w.code = http.StatusOK
		w.audit.start(http.StatusOK)
	}
	if w.audit != nil && w.audit.body != nil {
		w.audit.body.Write(p)
	}
	if !w.isGuarded {
		n, err := w.ResponseWriter.Write(p)
		w.bytes += n
		return n, err
	}
	n := 0
	w.progress.bytes = len(p)
	for {
		written, err := w.writePiece(p[n:min(n+maxPiece, len(p))])
		n += written
		w.bytes += written
		w.yield(written)
		if err != nil || n == len(p) {
			return n, err
		}
	}
}

// yield lets other goroutines run after each maxPiece bytes of a response. Go preempts a goroutine only after 10 ms, and a small
// request waits for several goroutines: without yield it would be slow beside a few long responses.
func (w *responseWriter) yield(written int) {
	if w.unyielded += written; w.unyielded >= maxPiece {
		w.unyielded = 0
		runtime.Gosched()
	}
}

// writePiece writes a part of the body under the guard of w.progress.
func (w *responseWriter) writePiece(p []byte) (int, error) {
	w.progress.start()
	n, err := w.ResponseWriter.Write(p)
	if failed := w.progress.stop(w.resume); err == nil {
		err = failed
	}
	return n, err
}

// Unwrap returns the wrapped writer for http.ResponseController.
func (w *responseWriter) Unwrap() http.ResponseWriter { return w.ResponseWriter }

// buffers pools the buffers of response bodies.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxPooledBuffer is the maximum size, in bytes, of a buffer that is returned to the pool.
const maxPooledBuffer = 1 << 20

// withBuffer calls write with an empty buffer. The buffer must not be used after write has returned.
func withBuffer(write func(buffer []byte) ([]byte, error)) error {
	b := buffers.Get().(*[]byte)
	used, err := write((*b)[:0])
	if cap(used) <= maxPooledBuffer {
		*b = used
		buffers.Put(b)
	}
	return err
}

// startResponse sends the header of a response of unknown length, and returns the writer of its body. size is the minimum
// length of the body in bytes.
func (q *request) startResponse(v encoding.View, size int) io.WriteCloser {
	h := q.w.Header()
	h["Content-Type"] = []string{v.ContentType()}
	h["Cache-Control"] = noCache
	w := q.bodyWriter(size)
	q.trace.Stage("respond")
	q.w.WriteHeader(http.StatusOK)
	return w
}

// respond sends a response with a body.
func (q *request) respond(code int, mediaType string, body []byte) error {
	h := q.w.Header()
	h["Content-Type"] = []string{mediaType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Cache-Control"] = noCache
	q.trace.Stage("respond")
	if len(body) >= minGzipBytes {
		w := q.bodyWriter(len(body))
		q.w.WriteHeader(code)
		_, _ = w.Write(body)
		_ = w.Close() // an error means that the client has disconnected
		return nil
	}
	q.endGuard() // only a short write remains
	q.w.WriteHeader(code)
	if q.r.Method != http.MethodHead {
		_, _ = q.w.Write(body)
	}
	return nil
}

// endGuard gives the seats back before the end of the request. The rest of the response is not guarded.
func (q *request) endGuard() {
	q.ticket.Release()
	q.w.isGuarded = false
}

var noCache = []string{"no-cache, private"}

// respondError responds with the Status of err, unless err is nil or a part of the response was sent already.
func (q *request) respondError(err error) {
	if err == nil || q.w.code != 0 {
		return
	}
	status := encoding.StatusOf(err)
	h := q.w.Header()
	if status.Code == http.StatusUnauthorized {
		h.Set("WWW-Authenticate", `Bearer realm="cadastre"`)
	}
	if status.Details != nil && status.Details.RetryAfterSeconds > 0 {
		h.Set("Retry-After", strconv.Itoa(int(status.Details.RetryAfterSeconds)))
	}
	if status.Code >= http.StatusInternalServerError && !isFutureRevision(err) {
		q.h.Log.Warn("request failed", "method", q.r.Method, "path", q.r.URL.Path, "error", err)
	}
	q.respondFailure(status)
}

// isFutureRevision reports whether err is a 504 that the client has caused by requesting a revision that does not exist yet.
func isFutureRevision(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// respondFailure responds with the Status of an error. If the client accepts no known format, the Status is encoded as JSON.
func (q *request) respondFailure(status metav1.Status) {
	q.respondStatus(encoding.NegotiateStatus(q.r.Header.Get("Accept"), q.r.URL.RawQuery, q.r.UserAgent()), status)
}

// respondStatus responds with a Status and its HTTP code. A Status is never converted to a Table or PartialObjectMetadata.
func (q *request) respondStatus(format encoding.Format, status metav1.Status) {
	code := http.StatusOK
	if status.Status != metav1.StatusSuccess {
		code = int(status.Code)
	}
	q.respondStatusCode(code, format, status)
}

// respondStatusCode responds with a Status and the given HTTP code.
func (q *request) respondStatusCode(code int, format encoding.Format, status metav1.Status) {
	q.audit.setStatus(status)
	_ = withBuffer(func(b []byte) ([]byte, error) {
		b, err := encoding.AppendStatus(b, format, &status)
		if err != nil {
			return b, err
		}
		return b, q.respond(code, format.ContentType(), b)
	})
}

// minGzipBytes is the minimum size, in bytes, of a response that is compressed, as in Kubernetes.
const minGzipBytes = 128 << 10

// gzipWriters pools gzip writers of the lowest compression level, as in Kubernetes.
var gzipWriters = sync.Pool{New: func() any {
	w, err := gzip.NewWriterLevel(nil, gzip.BestSpeed)
	if err != nil {
		panic(err) // cannot happen, because the compression level is valid
	}
	return &gzipBody{Writer: w, sent: bufio.NewWriterSize(nil, maxPiece)}
}}

// bodyWriter returns the writer of a body of at least size bytes, which the caller closes. The body is compressed if it is large
// and the client accepts gzip.
func (q *request) bodyWriter(size int) io.WriteCloser {
	if size < minGzipBytes || !encoding.AcceptsGzip(q.r.Header.Get("Accept-Encoding")) {
		return plainBody{&q.w}
	}
	h := q.w.Header()
	h["Content-Encoding"] = []string{"gzip"}
	h.Add("Vary", "Accept-Encoding")
	delete(h, "Content-Length")
	w := gzipWriters.Get().(*gzipBody)
	w.sent.Reset(&q.w)
	w.Reset(w.sent)
	return w
}

// plainBody is a body without compression.
type plainBody struct{ http.ResponseWriter }

// Close implements io.Closer.
func (plainBody) Close() error { return nil }

// gzipBody is a compressed body. It collects the output of the compression, which consists of short writes.
type gzipBody struct {
	*gzip.Writer
	sent *bufio.Writer
}

// Close implements io.Closer.
func (c *gzipBody) Close() error {
	err := errors.Join(c.Writer.Close(), c.sent.Flush())
	c.sent.Reset(nil)
	gzipWriters.Put(c)
	return err
}
