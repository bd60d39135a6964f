package hooks

import (
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admit"
	"github.com/cadastre/cadastre/internal/webhook"
)

// patch does to an object what a webhook wants, and reports whether that changed something.
func patch(q *admit.Question, name string, form admit.Form, v *verdict) (changed bool, err error) {
	operations, err := jsonpatch.DecodePatch(v.patch)
	if err != nil {
		return false, &webhook.CallError{
			Webhook: name, Reason: fmt.Errorf("received undecodable patch in webhook response: %w", err),
			Status: apierrors.NewServiceUnavailable("error decoding patch in webhook response"),
		}
	}
	if len(operations) == 0 {
		return false, nil
	}
	if q.Object.IsAbsent() {
		return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", name))
	}
	if v.patchType != admissionv1.PatchTypeJSONPatch {
		return false, &webhook.CallError{Webhook: name, Reason: fmt.Errorf("unsupported patch type %q", v.patchType), Status: &refused(name, v.why).StatusError}
	}
	before, _, err := q.At(form)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	after, err := patched(q, form, before, operations)
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return false, err
	}
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	q.Put(q.Objects.Default(after), form)
	return !document.Equal(before, after), nil
}

// patched returns an object after the operations, as the kind reads it.
func patched(q *admit.Question, form admit.Form, before document.Value, operations jsonpatch.Patch) (document.Value, error) {
	text, err := operations.Apply(before.AppendJSON(nil))
	if err != nil {
		return document.Value{}, err
	}
	after, err := document.ParseJSONLimited(text, document.Limits{MaxBytes: -1})
	if err != nil {
		return document.Value{}, err
	}
	return q.Objects.Read(after, apiVersionOf(form))
}

func apiVersionOf(form admit.Form) string { return form.Kind.GroupVersion().String() }
