package webhook

import (
	"errors"
	"fmt"
	"net/http"

	admissionv1 "k8s.io/api/admission/v1"
	admissionv1beta1 "k8s.io/api/admission/v1beta1"
	authenticationv1 "k8s.io/api/authentication/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/uuid"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
)

// review is a pair of AdmissionReviews of the same version: the request to a webhook, and the answer into which the response
// is decoded.
type review struct {
	uid             types.UID
	request, answer runtime.Object
}

// response is the decoded response of a webhook, independent of the version of its AdmissionReview.
type response struct {
	allowed   bool
	status    *metav1.Status
	patch     []byte
	patchType admissionv1.PatchType
	warnings  []string
}

// newReview returns a review of the first version that the webhook accepts and the server supports, or an error if there is
// none.
func newReview(versions []string, request *admissionv1.AdmissionRequest) (*review, error) {
	for _, version := range versions {
		switch version {
		case "v1":
			return &review{request.UID, &admissionv1.AdmissionReview{Request: request}, &admissionv1.AdmissionReview{}}, nil
		case "v1beta1":
			return &review{request.UID, &admissionv1beta1.AdmissionReview{Request: requestV1beta1(request)}, &admissionv1beta1.AdmissionReview{}}, nil
		}
	}
	return nil, errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
}

// requestOf returns the AdmissionRequest of a write, with the objects at the version v.
func requestOf(a *admission.Record, v admission.VersionedResource) (*admissionv1.AdmissionRequest, error) {
	object, old, err := a.At(v)
	if err != nil {
		return nil, err
	}
	own := a.Versioned()
	kind, resource := metav1.GroupVersionKind(own.Kind), metav1.GroupVersionResource(own.Resource)
	return &admissionv1.AdmissionRequest{
		UID:                uuid.NewUUID(),
		Kind:               metav1.GroupVersionKind(v.Kind),
		Resource:           metav1.GroupVersionResource(v.Resource),
		SubResource:        a.Subresource,
		RequestKind:        &kind,
		RequestResource:    &resource,
		RequestSubResource: a.Subresource,
		Name:               a.Name,
		Namespace:          a.Namespace,
		Operation:          admissionv1.Operation(a.Operation),
		UserInfo:           userInfo(a),
		Object:             raw(object),
		OldObject:          raw(old),
		DryRun:             &a.DryRun,
		Options:            runtime.RawExtension{Object: a.Source.Options()},
	}, nil
}

func raw(doc document.Value) runtime.RawExtension {
	if doc.IsAbsent() {
		return runtime.RawExtension{}
	}
	return runtime.RawExtension{Raw: doc.AppendJSON(nil)}
}

func userInfo(a *admission.Record) authenticationv1.UserInfo {
	who := a.User
	info := authenticationv1.UserInfo{Username: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups()}
	for key, values := range who.GetExtra() {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}

// requestV1beta1 converts an AdmissionRequest to v1beta1.
func requestV1beta1(r *admissionv1.AdmissionRequest) *admissionv1beta1.AdmissionRequest {
	return &admissionv1beta1.AdmissionRequest{
		UID: r.UID, Kind: r.Kind, Resource: r.Resource, SubResource: r.SubResource,
		RequestKind: r.RequestKind, RequestResource: r.RequestResource, RequestSubResource: r.RequestSubResource,
		Name: r.Name, Namespace: r.Namespace, Operation: admissionv1beta1.Operation(r.Operation), UserInfo: r.UserInfo,
		Object: r.Object, OldObject: r.OldObject, DryRun: r.DryRun, Options: r.Options,
	}
}

// response returns the webhook's decoded and validated response. Responses of v1beta1 are validated less strictly, as in
// kube-apiserver.
func (r *review) response(mutating bool) (*response, error) {
	switch answer := r.answer.(type) {
	case *admissionv1.AdmissionReview:
		if answer.Response == nil {
			return nil, errAbsent
		}
		if err := r.check(answer, mutating); err != nil {
			return nil, err
		}
		return newResponse(answer.Response), nil
	case *admissionv1beta1.AdmissionReview:
		if answer.Response == nil {
			return nil, errAbsent
		}
		return oldResponse(answer.Response, mutating), nil
	default:
		return nil, fmt.Errorf("unexpected response type %T", answer)
	}
}

var errAbsent = errors.New("webhook response was absent")

// check returns an error for a response to another request, and for a response that is invalid for the type of the webhook.
func (r *review) check(answer *admissionv1.AdmissionReview, mutating bool) error {
	response := answer.Response
	if response.UID != r.uid {
		return fmt.Errorf("expected response.uid=%q, got %q", r.uid, response.UID)
	}
	if want, got := admissionv1.SchemeGroupVersion.WithKind("AdmissionReview"), answer.GroupVersionKind(); got != want {
		return fmt.Errorf("expected webhook response of %v, got %v", want, got)
	}
	switch hasPatch, hasType := len(response.Patch) > 0, response.PatchType != nil; {
	case !mutating && hasPatch:
		return errors.New("validating webhook may not return response.patch")
	case !mutating && hasType:
		return errors.New("validating webhook may not return response.patchType")
	case hasPatch && !hasType:
		return errors.New("webhook returned response.patch but not response.patchType")
	case !hasPatch && hasType:
		return errors.New("webhook returned response.patchType but not response.patch")
	case hasType && *response.PatchType == "":
		return fmt.Errorf("webhook returned invalid response.patchType of %q", *response.PatchType)
	}
	return nil
}

func newResponse(r *admissionv1.AdmissionResponse) *response {
	decoded := &response{allowed: r.Allowed, status: r.Result, patch: r.Patch, warnings: r.Warnings}
	if r.PatchType != nil {
		decoded.patchType = *r.PatchType
	}
	return decoded
}

func oldResponse(r *admissionv1beta1.AdmissionResponse, mutating bool) *response {
	decoded := &response{allowed: r.Allowed, status: r.Result, warnings: r.Warnings}
	if mutating && len(r.Patch) > 0 {
		decoded.patch, decoded.patchType = r.Patch, admissionv1.PatchTypeJSONPatch
	}
	return decoded
}

// denial is the API status error of a webhook that denied the request.
type denial struct{ apierrors.StatusError }

// maxStatusCode is the highest HTTP status code with which a webhook can deny a request.
const maxStatusCode = 599

// newDenial returns the API status error for a request that a webhook denied, with the code and message of the status that the
// webhook returned.
func newDenial(webhook string, from *metav1.Status) *denial {
	status := metav1.Status{}
	if from != nil {
		status = *from
	}
	if status.Code < http.StatusBadRequest {
		status.Code = http.StatusBadRequest
	}
	if status.Code > maxStatusCode {
		status.Code = http.StatusInternalServerError // net/http cannot send codes above 599
	}
	if status.Status == "" || status.Status == metav1.StatusSuccess {
		status.Status = metav1.StatusFailure
	}
	message := fmt.Sprintf("admission webhook %q denied the request", webhook)
	switch {
	case status.Message != "":
		status.Message = message + ": " + status.Message
	case status.Reason != "":
		status.Message = message + ": " + string(status.Reason)
	default:
		status.Message = message + " without explanation"
	}
	return &denial{apierrors.StatusError{ErrStatus: status}}
}
