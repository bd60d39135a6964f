package objects

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
	"github.com/cadastre/cadastre/internal/packed"
	"github.com/cadastre/cadastre/internal/rules"
	"github.com/cadastre/cadastre/strategic"
)

// Patch is a way to change an object by a body: it returns what becomes of the object, which has
// its managedFields and resourceVersion.
type Patch func(object, body document.Value) (document.Value, error)

// Patch changes an object that is there.
func (o *Objects) Patch(ctx context.Context, r *Request, patch Patch) (Result, error) {
	body, err := document.ParseJSON(r.Body.Text)
	if err != nil {
		return Result{}, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: %v", err))
	}
	w := &writing{all: o, Request: r, change: func(w *writing) error { return w.patch(patch, body) }}
	return w.write(ctx)
}

// patch is the part of the verb. What comes out is treated like an update, save that only a patch
// that sets a resourceVersion is about a certain one.
func (w *writing) patch(patch Patch, body document.Value) error {
	e := w.Endpoint
	if w.live == nil {
		return apierrors.NewNotFound(e.resource(), w.Name)
	}
	shown, err := w.all.At(e, w.live)
	if err != nil {
		return StoreError(err)
	}
	object, err := document.ParseJSONLimited(shown.AppendJSON(nil), anySize)
	if err != nil {
		return StoreError(err)
	}
	patched, err := patch(object, body)
	if err != nil {
		return w.Endpoint.patchError(err)
	}
	after, err := w.splitPatched(patched)
	if err != nil {
		return err
	}
	// What was there before, and can't be read, is not the patch's fault.
	if err := after.checkManaged(); err != nil && !document.Equal(after.managed, object.Lookup("metadata", "managedFields")) {
		return w.unfitPatch(err)
	}
	if after.document, err = w.fit(e.body, after.document, unknownInPatch(body)...); err != nil {
		return w.unfitPatch(err)
	}
	after.document = e.withoutEmptied(object, after.document, body)
	if err := w.checkName(after.document); err != nil {
		return err
	}
	if err := w.checkScaled(after.document); err != nil && !e.Kind.Custom {
		return err
	}
	return w.replace(after)
}

// splitPatched takes apart what became of an object. A custom resource may have become something else, which is told when nothing
// else is wrong.
func (w *writing) splitPatched(patched document.Value) (after sent, err error) {
	e := w.Endpoint
	if !e.isCustomObject() {
		if patched.Get("apiVersion").Text() == "" {
			return after, apierrors.NewBadRequest(fmt.Sprintf("apiVersion: expected %s after the patch, received nothing; a patch can't remove it", e.BodyVersion))
		}
		if patched, err = w.withKind(patched); err != nil {
			return after, w.unfitPatch(err)
		}
	}
	if after, err = w.split(patched); err != nil {
		return after, w.unfitPatch(err)
	}
	return after, nil
}

// withoutEmptied leaves out what a patch left nothing in. Operations do not tell what becomes of what they send, so that
// all that is empty stays if one of them sends something empty.
func (e *Endpoint) withoutEmptied(before, after, body document.Value) document.Value {
	if body.Kind() != document.List {
		return e.body.WithoutEmptied(before, after, withoutNothing(before, body))
	}
	if rules.SendsEmpty(body) {
		return after
	}
	return e.body.WithoutEmptied(before, after, document.Value{})
}

// withoutNothing returns a patch without the empty labels and annotations that it sends to an object that has none: clients do not mean
// these, but send them when they have found nothing to change, and compare what comes back.
func withoutNothing(before, patch document.Value) document.Value {
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

// The ways to change an object.
var (
	// MergePatch is RFC 7396: maps are merged, null removes, all else replaces.
	MergePatch Patch = strategic.MergeJSON
	// JSONPatch is RFC 6902: operations, one after the other.
	JSONPatch Patch = jsonPatch
)

func jsonPatch(object, body document.Value) (document.Value, error) {
	if body.Kind() != document.List && !body.IsNull() {
		return object, apierrors.NewBadRequest(fmt.Sprintf("error decoding patch: expected a list of operations, received a %s", body.Kind()))
	}
	return strategic.ApplyJSONPatch(object, body)
}

// StrategicPatch is Kubernetes' own way, in which lists are merged as the kind says. Kinds that are not
// built in say nothing of it: ok is false, also for their scales, although those are of a kind that does.
func (e *Endpoint) StrategicPatch() (patch Patch, ok bool) {
	t := e.strategies()
	patch = func(object, body document.Value) (document.Value, error) {
		return strategic.Merge(object, body.Without("apiVersion").Without("kind"), t) // which stay, whatever is said
	}
	return patch, t != nil && e.evolving == nil
}

// strategiesOf returns how the lists of a kind are merged by patches; nil if nothing says so.
func strategiesOf(apiVersion, kind string) *strategic.Type {
	goType, ok := packed.GoType(apiVersion, kind)
	if !ok {
		return nil
	}
	t, err := strategic.FromGoType(goType)
	if err != nil {
		return nil // not a struct, so not a kind
	}
	return t
}

// unfitPatch is the error for a patch that could be read, but makes what can't be an object of the
// kind. It has the patch in it, unless it is one of a Secret.
func (w *writing) unfitPatch(err error) error {
	shown := w.Body.Text
	if w.Endpoint.isSecret() {
		shown = "(the values of Secrets are not shown)"
	}
	return apierrors.NewInvalid(schema.GroupKind{}, "", field.ErrorList{field.Invalid(field.NewPath("patch"), shown, err.Error())})
}

// unknownInPatch returns what a client should know about the patch itself: what the operations of a JSON
// patch don't have. Other patches are no lists.
func unknownInPatch(patch document.Value) (problems []string) {
	for _, path := range strategic.UnknownFields(patch) {
		problems = append(problems, fmt.Sprintf("json patch unknown field %q", path))
	}
	return problems
}

// patchError says to a client why its patch was refused. Of a Secret it says where, and not which
// value is there.
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
