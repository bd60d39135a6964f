package webhook

import (
	"errors"
	"fmt"

	jsonpatch "gopkg.in/evanphx/json-patch.v4"
	admissionv1 "k8s.io/api/admission/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
)

// patch applies the JSON patch of a webhook's response to the object, and reports whether the object changed.
func patch(a *admission.Record, name string, v admission.VersionedResource, r *response) (changed bool, err error) {
	operations, err := jsonpatch.DecodePatch(r.patch)
	if err != nil {
		return false, &webhookclient.CallError{
			Webhook: name, Reason: fmt.Errorf("received undecodable patch in webhook response: %w", err),
			Status: apierrors.NewServiceUnavailable("error decoding patch in webhook response"),
		}
	}
	if len(operations) == 0 {
		return false, nil
	}
	if a.Object.IsAbsent() {
		return false, apierrors.NewInternalError(fmt.Errorf("admission webhook %q attempted to modify the object, which is not supported for this operation", name))
	}
	if r.patchType != admissionv1.PatchTypeJSONPatch {
		return false, &webhookclient.CallError{Webhook: name, Reason: fmt.Errorf("unsupported patch type %q", r.patchType), Status: &newDenial(name, r.status).StatusError}
	}
	before, _, err := a.At(v)
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	after, err := patched(a, v, before, operations)
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return false, err
	}
	if err != nil {
		return false, apierrors.NewInternalError(err)
	}
	a.Return(a.Source.Default(after), v)
	return !document.Equal(before, after), nil
}

// patched returns the object after the patch operations, decoded as an object of its kind.
func patched(a *admission.Record, v admission.VersionedResource, before document.Value, operations jsonpatch.Patch) (document.Value, error) {
	text, err := operations.Apply(before.AppendJSON(nil))
	if err != nil {
		return document.Value{}, err
	}
	after, err := document.ParseJSONLimited(text, document.Limits{MaxBytes: -1, FiniteNumbers: true})
	if err != nil {
		return document.Value{}, err
	}
	after, _, err = a.Source.Read(after, v.Kind.GroupVersion().String())
	return after, err
}
