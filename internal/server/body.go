package server

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"
	"time"
	"unsafe"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/encoding"
	"github.com/cadastre/cadastre/internal/registry"
)

// readBody reads the body of the request and converts it to JSON or YAML text. The text is empty if there is no body.
func (q *request) readBody() (registry.Body, error) {
	encoded, err := q.bodyEncoding()
	if err != nil {
		return registry.Body{}, err
	}
	body := registry.Body{YAML: encoded.YAML, Strategic: q.patchType == types.StrategicMergePatchType}
	if body.Text, err = q.readText(); err != nil || body.Text == "" {
		return body, err
	}
	if err := q.reserveDecoding(encoded, body.Text); err != nil {
		return body, err
	}
	var kind schema.GroupVersionKind
	if encoded.NeedsGoType {
		kind = q.defaultBodyKind()
	}
	if body.Text, err = encoded.DecodeBody(body.Text, kind); err != nil {
		return body, apierrors.NewBadRequest(err.Error())
	}
	if q.audit != nil {
		q.recordBody(body)
	}
	return body, nil
}

// bodyEncoding returns the encoding that the Content-Type selects, or JSON if there is no Content-Type. The encoding of a patch
// that is not an apply is always JSON. It returns a 415 for unsupported media types.
func (q *request) bodyEncoding() (*encoding.Encoding, error) {
	if q.r.Method == http.MethodPatch {
		if e := encoding.ForApply(q.patchType); e != nil {
			return e, nil
		}
		return encoding.JSON, nil
	}
	header := q.r.Header.Get("Content-Type")
	if header == "" || header == encoding.JSON.MediaType {
		return encoding.JSON, nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err == nil || errors.Is(err, mime.ErrInvalidMediaParameter) {
		if e := encoding.ForMediaType(mediaType); e != nil {
			return e, nil
		}
	}
	return nil, unsupportedMediaType(header, encoding.MediaTypes()...)
}

// defaultBodyKind returns the kind of a body that contains no kind and apiVersion.
func (q *request) defaultBodyKind() schema.GroupVersionKind {
	if q.r.Method == http.MethodDelete {
		return schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
	}
	version, kind := q.kind.APIVersion(q.target.version), q.kind.Name
	if endpoint, err := q.endpoint(); err == nil { // access reviews have no endpoint; their kind is that of the resource
		version, kind = endpoint.BodyVersion, endpoint.BodyKind
	}
	return schema.FromAPIVersionAndKind(version, kind)
}

// maxPreallocatedBody is the maximum Content-Length, in bytes, for which memory is allocated before the body arrives.
const maxPreallocatedBody = 32 << 10

// readText returns the body, which the filter receiveBody has read, or the error of receiveText.
func (q *request) readText() (string, error) { return q.text, q.textErr }

// receiveText reads the body. It returns a 413 if the body exceeds Limits.MaxBodyBytes, and a 400 if it arrives too slowly.
func (q *request) receiveText() (string, error) {
	n, limit := q.r.ContentLength, q.h.Limits.MaxBodyBytes
	if n == 0 || q.r.Body == nil || q.r.Body == http.NoBody {
		return "", nil
	}
	body := &bodyReader{q: q, progress: progress{setDeadline: http.NewResponseController(&q.w).SetReadDeadline}}
	if n > limit {
		return "", q.bodyTooLarge(body)
	}
	if n > 0 && n <= maxPreallocatedBody {
		// net/http ensures that the body is no longer than its Content-Length.
		b := make([]byte, n)
		if err := body.fill(b); err != nil {
			return "", bodyReadError(err)
		}
		return unsafe.String(unsafe.SliceData(b), len(b)), nil // the string shares the memory of b, which is not modified any more
	}
	b, err := io.ReadAll(io.LimitReader(body, limit+1))
	switch {
	case err != nil:
		return "", bodyReadError(err)
	case int64(len(b)) > limit:
		return "", q.bodyTooLarge(body)
	}
	return string(b), nil
}

// bodyReader reads the body of a request. Reads fail if the body arrives more slowly than minBodyRate, or later than
// Limits.RequestTimeout.
type bodyReader struct {
	q        *request
	progress progress
	received int64
}

// Read implements io.Reader.
func (b *bodyReader) Read(p []byte) (int, error) {
	b.progress.startUntil(b.timeLeft(0))
	n, err := b.q.r.Body.Read(p)
	_ = b.progress.stop(nil) // without seats, stop returns no error
	b.received += int64(n)
	return n, err
}

// fill reads len(p) bytes.
func (b *bodyReader) fill(p []byte) error {
	b.progress.startUntil(b.timeLeft(int64(len(p))))
	_, err := io.ReadFull(b.q.r.Body, p)
	_ = b.progress.stop(nil)
	return err
}

// timeLeft returns the time that the client has for the next bytes.
func (b *bodyReader) timeLeft(next int64) time.Duration {
	limits := &b.q.h.Limits
	allowed := limits.ProgressTimeout + time.Duration(b.received+next)*time.Second/minBodyRate
	return time.Until(b.q.start.Add(min(allowed, limits.RequestTimeout)))
}

// bodyReadError returns the 400 for a body that could not be received, or the 429 for a body that does not fit in memory.
func bodyReadError(err error) error {
	if status := (*apierrors.StatusError)(nil); errors.As(err, &status) {
		return err // the 429 of chargedBody
	}
	return apierrors.NewBadRequest(fmt.Sprintf("the body can't be read: %v", err))
}

// bodyTooLarge returns the 413 for a body that exceeds the limit. Before that it reads and discards at most twice the limit,
// because a client may not read the response while it is still sending the body.
func (q *request) bodyTooLarge(body io.Reader) error {
	limit := q.h.Limits.MaxBodyBytes
	_, _ = io.CopyN(io.Discard, body, 2*limit)
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", limit))
}

// unsupportedMediaType returns the 415 for a Content-Type that is not one of the accepted media types.
func unsupportedMediaType(received string, accepted ...string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnsupportedMediaType,
		Reason:  metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s; received %q", strings.Join(accepted, ", "), received),
	}}
}
