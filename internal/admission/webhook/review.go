package hooks

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
	"github.com/cadastre/cadastre/internal/admit"
)

// A review is what a webhook is sent, and what it answers.
type review struct {
	uid             types.UID
	request, answer runtime.Object
}

// A verdict is what a webhook says.
type verdict struct {
	allowed   bool
	why       *metav1.Status
	patch     []byte
	patchType admissionv1.PatchType
	warnings  []string
}

// newReview makes a review of the first version that a webhook knows and we do.
func newReview(versions []string, request *admissionv1.AdmissionRequest) (*review, error) {
	for _, version := range versions {
		switch version {
		case "v1":
			return &review{request.UID, &admissionv1.AdmissionReview{Request: request}, &admissionv1.AdmissionReview{}}, nil
		case "v1beta1":
			return &review{request.UID, &admissionv1beta1.AdmissionReview{Request: oldRequest(request)}, &admissionv1beta1.AdmissionReview{}}, nil
		}
	}
	return nil, errors.New("webhook does not accept known AdmissionReview versions (v1, v1beta1)")
}

// requestOf returns a question as a webhook is asked it.
func requestOf(q *admit.Question, form admit.Form) (*admissionv1.AdmissionRequest, error) {
	object, old, err := q.At(form)
	if err != nil {
		return nil, err
	}
	own := q.Form()
	kind, resource := metav1.GroupVersionKind(own.Kind), metav1.GroupVersionResource(own.Resource)
	return &admissionv1.AdmissionRequest{
		UID:                uuid.NewUUID(),
		Kind:               metav1.GroupVersionKind(form.Kind),
		Resource:           metav1.GroupVersionResource(form.Resource),
		SubResource:        q.Subresource,
		RequestKind:        &kind,
		RequestResource:    &resource,
		RequestSubResource: q.Subresource,
		Name:               q.Name,
		Namespace:          q.Namespace,
		Operation:          admissionv1.Operation(q.Operation),
		UserInfo:           userInfo(q),
		Object:             raw(object),
		OldObject:          raw(old),
		DryRun:             &q.DryRun,
		Options:            runtime.RawExtension{Object: q.Options},
	}, nil
}

func raw(doc document.Value) runtime.RawExtension {
	if doc.IsAbsent() {
		return runtime.RawExtension{}
	}
	return runtime.RawExtension{Raw: doc.AppendJSON(nil)}
}

func userInfo(q *admit.Question) authenticationv1.UserInfo {
	who := admit.UserInfo(q.User)
	info := authenticationv1.UserInfo{Username: who.GetName(), UID: who.GetUID(), Groups: who.GetGroups()}
	for key, values := range who.GetExtra() {
		if info.Extra == nil {
			info.Extra = map[string]authenticationv1.ExtraValue{}
		}
		info.Extra[key] = values
	}
	return info
}

// oldRequest returns a request as webhooks of the old days know it.
func oldRequest(r *admissionv1.AdmissionRequest) *admissionv1beta1.AdmissionRequest {
	return &admissionv1beta1.AdmissionRequest{
		UID: r.UID, Kind: r.Kind, Resource: r.Resource, SubResource: r.SubResource,
		RequestKind: r.RequestKind, RequestResource: r.RequestResource, RequestSubResource: r.RequestSubResource,
		Name: r.Name, Namespace: r.Namespace, Operation: admissionv1beta1.Operation(r.Operation), UserInfo: r.UserInfo,
		Object: r.Object, OldObject: r.OldObject, DryRun: r.DryRun, Options: r.Options,
	}
}

// verdict reads the answer. Answers of the old version are not looked at as closely, as in Kubernetes.
func (r *review) verdict(mutating bool) (*verdict, error) {
	switch answer := r.answer.(type) {
	case *admissionv1.AdmissionReview:
		if answer.Response == nil {
			return nil, errAbsent
		}
		if err := r.check(answer, mutating); err != nil {
			return nil, err
		}
		return verdictOf(answer.Response), nil
	case *admissionv1beta1.AdmissionReview:
		if answer.Response == nil {
			return nil, errAbsent
		}
		return oldVerdict(answer.Response, mutating), nil
	default:
		return nil, fmt.Errorf("unexpected response type %T", answer)
	}
}

var errAbsent = errors.New("webhook response was absent")

// check refuses answers that are not to this question, or say what they can't.
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

func verdictOf(r *admissionv1.AdmissionResponse) *verdict {
	v := &verdict{allowed: r.Allowed, why: r.Result, patch: r.Patch, warnings: r.Warnings}
	if r.PatchType != nil {
		v.patchType = *r.PatchType
	}
	return v
}

func oldVerdict(r *admissionv1beta1.AdmissionResponse, mutating bool) *verdict {
	v := &verdict{allowed: r.Allowed, why: r.Result, warnings: r.Warnings}
	if mutating && len(r.Patch) > 0 {
		v.patch, v.patchType = r.Patch, admissionv1.PatchTypeJSONPatch
	}
	return v
}

// A refusal is that a webhook says no.
type refusal struct{ apierrors.StatusError }

// refused returns what a client is told if a webhook says no.
func refused(webhook string, why *metav1.Status) *refusal {
	status := metav1.Status{}
	if why != nil {
		status = *why
	}
	if status.Code < http.StatusBadRequest {
		status.Code = http.StatusBadRequest
	}
	if status.Status == "" || status.Status == metav1.StatusSuccess {
		status.Status = metav1.StatusFailure
	}
	said := fmt.Sprintf("admission webhook %q denied the request", webhook)
	switch {
	case status.Message != "":
		status.Message = said + ": " + status.Message
	case status.Reason != "":
		status.Message = said + ": " + string(status.Reason)
	default:
		status.Message = said + " without explanation"
	}
	return &refusal{apierrors.StatusError{ErrStatus: status}}
}
