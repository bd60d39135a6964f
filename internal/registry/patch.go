package registry

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/internal/api/scheme"
	"github.com/cadastre/cadastre/strategic"
)

// Patch applies a body of one patch type to an object and returns the patched object. The object contains managedFields and
// resourceVersion, so that the patch can change them.
type Patch func(object, body document.Value) (document.Value, error)

// Patch patches an existing object. It returns a 404 if the object does not exist.
func (r *Registry) Patch(ctx context.Context, request *Request, patch Patch) (_ Result, err error) {
	defer func() { err = r.withoutSecretValues(ctx, request, err) }()
	body, err := document.ParseJSONLimited(request.Body.Text, bodyLimits)
	isNumberRange := errors.Is(err, document.ErrNumberRange)
	if err != nil && (!isNumberRange || request.Body.Strategic) {
		return Result{}, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	w := r.newWrite(request, verb{
		merge: func(_ context.Context, w *write, live *loaded) (merged, error) {
			if isNumberRange && live.object != nil {
				return merged{}, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err)) // after the 404, as in kube-apiserver
			}
			return w.mergePatch(live, patch, body)
		},
	})
	return w.run(ctx)
}

// mergePatch patches the live object. The result is treated like the body of an update. The result contains the live
// resourceVersion, so the resourceVersion check fails only if the patch sets another one.
func (w *write) mergePatch(live *loaded, patch Patch, body document.Value) (m merged, err error) {
	e := w.Endpoint
	if live.object == nil {
		return m, apierrors.NewNotFound(e.resource(), w.Name)
	}
	object, err := w.wholeAt(e, live.object)
	if err != nil {
		return m, err
	}
	if err := w.checkPatchBody(w.Body.Text, object, body); err != nil {
		return m, err
	}
	patched, err := patch(object, body)
	if err != nil {
		return m, e.patchError(err)
	}
	if err := w.checkPatched(object, body, patched); err != nil {
		return m, err
	}
	after, err := w.splitPatched(patched)
	if err != nil {
		return m, err
	}
	// Stored managedFields that cannot be decoded must not fail a patch that does not change them.
	if err := after.checkManaged(); err != nil && !document.Equal(after.managed, object.Lookup("metadata", "managedFields")) {
		return m, w.invalidPatch(err)
	}
	if after.document, err = w.decodeTyped(e.body, after.document, unknownInPatch(body)...); err != nil {
		return m, w.invalidPatch(err)
	}
	after.document = e.withoutEmptied(object, after.document, body)
	if err := w.checkName(after.document); err != nil {
		return m, err
	}
	if err := w.checkProjectedUID(live, after.document); err != nil && !e.Kind.Custom {
		return m, err
	}
	return w.mergeReplacement(live, after)
}

// splitPatched splits the result of a patch like split, and checks its kind and apiVersion. For a custom resource a changed
// kind is a validation error, which checkType returns later.
func (w *write) splitPatched(patched document.Value) (after decoded, err error) {
	e := w.Endpoint
	if !e.isCustomObject() {
		if patched.Get("apiVersion").Text() == "" {
			return after, apierrors.NewBadRequest(fmt.Sprintf("apiVersion: must be %s after the patch; a patch can't remove it", e.BodyVersion))
		}
		if patched, err = w.withKind(patched); err != nil {
			return after, w.invalidPatch(err)
		}
	}
	if after, err = split(patched); err != nil {
		return after, w.invalidPatch(err)
	}
	return after, nil
}

// withoutEmptied returns the patched object without the lists and maps that the patch has emptied. Empty lists and maps that
// the patch itself sets are retained. If any operation of a JSON patch contains one, all empty values are retained.
func (e *Endpoint) withoutEmptied(before, after, body document.Value) document.Value {
	if body.Kind() != document.List {
		return e.body.DropEmptied(before, after, withoutEmptyMetadata(before, body))
	}
	if builtin.HasEmptyContainer(body) {
		return after
	}
	return e.body.DropEmptied(before, after, document.Value{})
}

// withoutEmptyMetadata returns a patch without empty labels and annotations if the object has no labels or annotations.
// Clients send these in patches that change nothing, and expect that the response equals the object before the patch.
func withoutEmptyMetadata(before, patch document.Value) document.Value {
	for _, name := range []string{"annotations", "labels"} {
		sent := patch.Lookup("metadata", name)
		if sent.Kind() != document.Map || sent.Len() > 0 || !before.Lookup("metadata", name).IsAbsent() {
			continue
		}
		rest := patch.Get("metadata").Without(name)
		if patch = patch.With("metadata", rest); rest.Len() == 0 {
			patch = patch.Without("metadata")
		}
	}
	return patch
}

// The patch types that do not depend on the resource.
var (
	// MergePatch is a JSON merge patch (RFC 7396).
	MergePatch Patch = strategic.MergeJSON
	// JSONPatch is a JSON patch (RFC 6902).
	JSONPatch Patch = jsonPatch
)

func jsonPatch(object, body document.Value) (document.Value, error) {
	if body.Kind() != document.List && !body.IsNull() {
		return object, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: expected a list of operations, received a %s", body.Kind()))
	}
	return strategic.ApplyJSONPatch(object, body)
}

// StrategicPatch returns the strategic merge patch for the bodies of the endpoint; ok is false for custom resources and their
// scale subresources, which do not support it.
func (e *Endpoint) StrategicPatch() (patch Patch, ok bool) {
	t := e.patchStrategies()
	patch = func(object, body document.Value) (document.Value, error) {
		return strategic.Merge(object, body.Without("apiVersion").Without("kind"), t)
	}
	return patch, t != nil && e.evolving == nil
}

// patchStrategiesOf returns the strategic merge patch metadata of a kind; nil if there is no Go type for it.
func patchStrategiesOf(apiVersion, kind string) *strategic.Type {
	goType, ok := scheme.GoType(apiVersion, kind)
	if !ok {
		return nil
	}
	t, err := strategic.FromGoType(goType)
	if err != nil {
		return nil // the Go type is not a struct
	}
	return t
}

// invalidPatch returns the 422 for a patch whose result cannot be decoded as the endpoint's body kind. The message contains
// the patch, except for Secrets.
func (w *write) invalidPatch(err error) error {
	shown := w.Body.Text
	if w.Endpoint.isSecret() {
		shown = "(the values of Secrets are not shown)"
	}
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), shown, err.Error())})
}

// unknownInPatch returns a warning for each unknown field of an operation of a JSON patch; nil for other patch types.
func unknownInPatch(patch document.Value) (problems []string) {
	for _, path := range strategic.UnknownFields(patch) {
		problems = append(problems, fmt.Sprintf("json patch unknown field %q", path))
	}
	return problems
}

// patchError returns the API status for a patch that cannot be applied to the object. For a Secret the message contains the
// path, but no values.
func (e *Endpoint) patchError(err error) error {
	var refused *strategic.Error
	if !errors.As(err, &refused) {
		return err
	}
	text := refused.Error()
	if e.isSecret() {
		text = strings.TrimPrefix(refused.Path+": ", ": ") + "the patch does not fit the Secret, whose values are not shown"
	}
	status := apierrors.NewBadRequest(text)
	switch code := refused.Reason.Status(); code {
	case http.StatusUnprocessableEntity:
		status.ErrStatus.Code, status.ErrStatus.Reason = int32(code), metav1.StatusReasonInvalid
	case http.StatusRequestEntityTooLarge:
		status.ErrStatus.Code, status.ErrStatus.Reason = int32(code), metav1.StatusReasonRequestEntityTooLarge
	}
	return status
}
