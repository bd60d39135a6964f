package server

import (
	"io"
	"net/http"
	"strconv"
	"sync"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/internal/encoding"
)

// answer is the way back to the client. It knows what was sent already.
type answer struct {
	http.ResponseWriter
	code  int
	bytes int
}

func (a *answer) WriteHeader(code int) {
	if a.code == 0 {
		a.code = code
	}
	a.ResponseWriter.WriteHeader(code)
}

func (a *answer) Write(p []byte) (int, error) {
	if a.code == 0 {
		a.code = http.StatusOK
	}
	n, err := a.ResponseWriter.Write(p)
	a.bytes += n
	return n, err
}

// Unwrap is how http.ResponseController finds the connection.
func (a *answer) Unwrap() http.ResponseWriter { return a.ResponseWriter }

// buffers are used for one answer after the other.
var buffers = sync.Pool{New: func() any { return new([]byte) }}

// largestBuffer is how large a buffer may be to be used again.
const largestBuffer = 1 << 20

// withBuffer has something written to a buffer, which is nobody's when it returns.
func withBuffer(write func(buffer []byte) ([]byte, error)) error {
	b := buffers.Get().(*[]byte)
	used, err := write((*b)[:0])
	if cap(used) <= largestBuffer {
		*b = used
		buffers.Put(b)
	}
	return err
}

// startSending sends the header of an answer whose length is not known yet, but is at least so many bytes.
func (q *request) startSending(v encoding.View, size int) io.WriteCloser {
	h := q.w.Header()
	h["Content-Type"] = []string{v.ContentType()}
	h["Cache-Control"] = noCache
	w := q.bodyWriter(size)
	q.w.WriteHeader(http.StatusOK)
	return w
}

// send answers with a body.
func (q *request) send(code int, mediaType string, body []byte) error {
	h := q.w.Header()
	h["Content-Type"] = []string{mediaType}
	h["Content-Length"] = []string{strconv.Itoa(len(body))}
	h["Cache-Control"] = noCache
	if len(body) >= smallestCompressed {
		w := q.bodyWriter(len(body))
		q.w.WriteHeader(code)
		_, _ = w.Write(body)
		_ = w.Close() // who is gone needs no answer
		return nil
	}
	q.w.WriteHeader(code)
	if q.r.Method != http.MethodHead {
		_, _ = q.w.Write(body)
	}
	return nil
}

var noCache = []string{"no-cache, private"}

// fail answers with an error, if there is one and nothing has been sent yet.
func (q *request) fail(err error) {
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
	if status.Code >= http.StatusInternalServerError && !isOfTheFuture(err) {
		q.h.Log.Warn("a request failed", "method", q.r.Method, "path", q.r.URL.Path, "error", err)
	}
	q.answerFailure(status)
}

// isOfTheFuture is for errors that the client brings about: it asked for a revision that there is not yet.
func isOfTheFuture(err error) bool {
	return apierrors.HasStatusCause(err, metav1.CauseTypeResourceVersionTooLarge)
}

// answerFailure answers with the status of an error, which is told to everybody: also to who asks for nothing that there is.
func (q *request) answerFailure(status metav1.Status) {
	q.answerStatus(encoding.NegotiateStatus(q.r.Header.Get("Accept"), q.r.URL.RawQuery, q.r.UserAgent()), status)
}

// answerStatus answers with a status. It has no other shape than its own, whatever the format says.
func (q *request) answerStatus(format encoding.Format, status metav1.Status) {
	code := http.StatusOK
	if status.Status != metav1.StatusSuccess {
		code = int(status.Code)
	}
	q.answerStatusWith(code, format, status)
}

// answerStatusWith answers with a status and an HTTP code.
func (q *request) answerStatusWith(code int, format encoding.Format, status metav1.Status) {
	_ = withBuffer(func(b []byte) ([]byte, error) {
		b, err := encoding.AppendStatus(b, format, &status)
		if err != nil {
			return b, err
		}
		return b, q.send(code, format.ContentType(), b)
	})
}
