package server

import (
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"slices"
	"strings"
	"unsafe"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/codec"
	"github.com/cadastre/cadastre/internal/objects"
)

// readBody reads what the client sent.
func (q *request) readBody() (objects.Body, error) {
	body := objects.Body{YAML: q.patchType == types.ApplyYAMLPatchType, Strategic: q.patchType == types.StrategicMergePatchType}
	mediaType := string(q.patchType)
	if q.r.Method != http.MethodPatch {
		var err error
		if mediaType, err = bodyType(q.r.Header.Get("Content-Type")); err != nil {
			return body, err
		}
		body.YAML = mediaType == "application/yaml"
	}
	text, err := q.readText()
	if err != nil {
		return body, err
	}
	if body.Text, err = q.asJSON(mediaType, text); err != nil {
		return body, apierrors.NewBadRequest(err.Error())
	}
	return body, nil
}

// asJSON returns a body in JSON that was sent in a binary encoding.
func (q *request) asJSON(mediaType, text string) (string, error) {
	if text == "" {
		return text, nil
	}
	switch mediaType {
	case codec.Protobuf.String():
		read, err := codec.ReadProtobuf([]byte(text), q.sentKind())
		return string(read), err
	case codec.CBOR.String(), string(types.ApplyCBORPatchType):
		read, err := codec.ReadCBOR([]byte(text))
		return string(read), err
	}
	return text, nil
}

// sentKind is what a body is that does not say so.
func (q *request) sentKind() schema.GroupVersionKind {
	if q.r.Method == http.MethodDelete {
		return schema.GroupVersionKind{Version: "v1", Kind: "DeleteOptions"}
	}
	version, kind := q.kind.APIVersion(q.target.version), q.kind.Name
	if endpoint, err := q.endpoint(); err == nil { // reviews have none
		version, kind = endpoint.BodyVersion, endpoint.BodyKind
	}
	return schema.FromAPIVersionAndKind(version, kind)
}

// smallBody is how large a body may be that is given its memory before it has come.
const smallBody = 256 << 10

// readText reads the bytes of a body.
func (q *request) readText() (string, error) {
	limit := q.h.Limits.BodyBytes
	// A client that is slow must not keep a place for long, also if what it sends is not wanted.
	p := newPatience(q.h.Limits.RequestTime, http.NewResponseController(&q.w).SetReadDeadline)
	p.begin()
	defer p.done()
	if q.r.ContentLength > limit {
		return "", q.tooLarge()
	}
	if n := q.r.ContentLength; n > 0 && n <= smallBody {
		// Who says how much it is is not asked whether there is more: HTTP sees to that.
		b := make([]byte, n)
		if _, err := io.ReadFull(q.r.Body, b); err != nil {
			return "", unreadableBody(err)
		}
		return unsafe.String(unsafe.SliceData(b), len(b)), nil // nobody else has it, so nobody changes it
	}
	b, err := io.ReadAll(io.LimitReader(q.r.Body, limit+1))
	switch {
	case err != nil:
		return "", unreadableBody(err)
	case int64(len(b)) > limit:
		return "", q.tooLarge()
	}
	return string(b), nil
}

func unreadableBody(err error) error {
	return apierrors.NewBadRequest(fmt.Sprintf("the body can't be read: %v", err))
}

// tooLarge refuses a body. Some of what is left of it is read all the same: a client that is still
// sending may not hear the answer.
func (q *request) tooLarge() error {
	limit := q.h.Limits.BodyBytes
	_, _ = io.CopyN(io.Discard, q.r.Body, 2*limit)
	return apierrors.NewRequestEntityTooLargeError(fmt.Sprintf("limit is %d", limit))
}

var bodyTypes = []string{codec.JSON.String(), codec.YAML.String(), codec.Protobuf.String(), codec.CBOR.String()}

// bodyType returns the media type of a body; JSON if the client does not say.
func bodyType(header string) (string, error) {
	if header == "" || header == "application/json" {
		return "application/json", nil
	}
	mediaType, _, err := mime.ParseMediaType(header)
	if err != nil && !errors.Is(err, mime.ErrInvalidMediaParameter) {
		return "", unsupportedMediaType(header, bodyTypes...)
	}
	if slices.Contains(bodyTypes, mediaType) {
		return mediaType, nil
	}
	return "", unsupportedMediaType(header, bodyTypes...)
}

func unsupportedMediaType(received string, accepted ...string) error {
	return &apierrors.StatusError{ErrStatus: metav1.Status{
		Status:  metav1.StatusFailure,
		Code:    http.StatusUnsupportedMediaType,
		Reason:  metav1.StatusReasonUnsupportedMediaType,
		Message: fmt.Sprintf("the body of the request was in an unknown format - accepted media types include: %s; received %q", strings.Join(accepted, ", "), received),
	}}
}
