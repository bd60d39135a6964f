package server

import (
	"context"
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
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/internal/codec"
	"github.com/cadastre/cadastre/internal/objects"
)

// create answers a POST.
func (q *request) create() error {
	if q.target.subresource != "" || q.target.name != "" {
		return q.noSuchMethod()
	}
	o, err := q.readWriteOptions("CreateOptions", "")
	if err != nil {
		return err
	}
	return q.write(o, q.h.Objects.Create)
}

// update answers a PUT.
func (q *request) update() error {
	if q.target.name == "" {
		return q.noSuchMethod()
	}
	o, err := q.readWriteOptions("UpdateOptions", "")
	if err != nil {
		return err
	}
	return q.write(o, q.h.Objects.Update)
}

// patch answers a PATCH.
func (q *request) patch() error {
	if q.target.name == "" {
		return q.noSuchMethod()
	}
	o, err := q.readWriteOptions("PatchOptions", q.patchType)
	if err != nil {
		return err
	}
	switch q.patchType {
	case types.ApplyYAMLPatchType:
		return q.write(o, q.h.Objects.Apply)
	case types.MergePatchType:
		return q.write(o, q.patchBy(objects.MergePatch))
	case types.JSONPatchType:
		return q.write(o, q.patchBy(objects.JSONPatch))
	case types.StrategicMergePatchType:
		endpoint, err := q.endpoint()
		if err != nil {
			return err
		}
		patch, err := endpoint.StrategicPatch()
		if err != nil {
			return err
		}
		return q.write(o, q.patchBy(patch))
	}
	return unsupportedMediaType(q.r.Header.Get("Content-Type"), string(types.JSONPatchType), string(types.MergePatchType),
		string(types.StrategicMergePatchType), string(types.ApplyYAMLPatchType))
}

func (q *request) patchBy(patch objects.Patch) func(context.Context, *objects.Request) (objects.Result, error) {
	return func(ctx context.Context, r *objects.Request) (objects.Result, error) {
		return q.h.Objects.Patch(ctx, r, patch)
	}
}

// write has an object written, and answers with it.
func (q *request) write(o writeOptions, do func(context.Context, *objects.Request) (objects.Result, error)) error {
	format, err := q.negotiate()
	if err != nil {
		return err
	}
	endpoint, err := q.endpoint()
	if err != nil {
		return err
	}
	only, err := onlyIf(q.r.Header)
	if err != nil {
		return err
	}
	body, err := q.readBody()
	if err != nil {
		return err
	}
	ctx, cancel := q.timeLimited()
	defer cancel()
	result, err := do(ctx, &objects.Request{
		Endpoint:   endpoint,
		Namespace:  q.target.place(q.kind),
		Name:       q.target.name,
		Body:       body,
		User:       q.user,
		Manager:    o.manager,
		DryRun:     o.dryRun,
		Validation: o.validation,
		Force:      o.force,
		Only:       only,
		MayCreate:  q.mayCreate,
		Warn:       q.warn,
	})
	if err != nil {
		return err
	}
	// What changes nothing also says how things are; and what has no finalizer left is gone later than it
	// was last written.
	if err := q.h.Authorizer.Sync(ctx, q.kind.StoreName(), max(result.Revision, result.Object.Revision())); err != nil {
		return objects.ReadError(err)
	}
	code := http.StatusOK
	if result.Created {
		code = http.StatusCreated
	}
	return q.answerObject(code, format, endpoint, result.Object)
}

// mayCreate asks whether the user may create what another verb would create.
func (q *request) mayCreate(context.Context) error {
	a := q.attributes()
	a.Verb = "create"
	return q.h.Authorizer.Check(a)
}

// warn tells the client something in a header.
func (q *request) warn(text string) {
	clean := strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
	q.w.Header().Add("Warning", fmt.Sprintf(`299 - "%s"`, strings.NewReplacer(`\`, `\\`, `"`, `\"`).Replace(clean)))
}

// readBody reads what the client sent.
func (q *request) readBody() (objects.Body, error) {
	body := objects.Body{YAML: q.applies(), Patch: q.target.verb == "patch"}
	mediaType := ""
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
	if mediaType == codec.Protobuf && text != "" {
		read, err := codec.ReadProtobuf([]byte(text))
		if err != nil {
			return body, apierrors.NewBadRequest(err.Error())
		}
		text = string(read)
	}
	body.Text = text
	return body, nil
}

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
	if n := q.r.ContentLength; n > 0 {
		// Who says how much it is is not asked whether there is more: HTTP sees to that.
		b := make([]byte, n)
		if _, err := io.ReadFull(q.r.Body, b); err != nil {
			return "", unreadableBody(err)
		}
		return unsafe.String(unsafe.SliceData(b), len(b)), nil
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

var bodyTypes = []string{"application/json", "application/yaml", codec.Protobuf}

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
