package crd

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/document"
)

// reviewSender is a method of webhookConverter that sends objects to the webhook in a ConversionReview of one version, v1 or
// v1beta1, and returns the converted objects.
type reviewSender func(c *webhookConverter, ctx context.Context, uid types.UID, to string, all []runtime.RawExtension) ([]runtime.RawExtension, error)

// reviewSenders maps each supported version of ConversionReview to the method that sends it.
var reviewSenders = map[string]reviewSender{
	apiextensionsv1.SchemeGroupVersion.Version:      (*webhookConverter).sendV1Review,
	apiextensionsv1beta1.SchemeGroupVersion.Version: (*webhookConverter).sendV1beta1Review,
}

// firstSupportedSender returns the entry of reviewSenders for the first supported item of versions, which are
// conversionReviewVersions. It returns an error if no item is supported.
func firstSupportedSender(versions document.Value) (reviewSender, error) {
	for _, version := range versions.Items() {
		if send, ok := reviewSenders[version.Text()]; ok {
			return send, nil
		}
	}
	return nil, errors.New("no supported conversion review versions")
}

// sendV1Review sends a ConversionReview of apiextensions.k8s.io/v1.
func (c *webhookConverter) sendV1Review(ctx context.Context, uid types.UID, to string, all []runtime.RawExtension) ([]runtime.RawExtension, error) {
	review := &apiextensionsv1.ConversionReview{
		Request:  &apiextensionsv1.ConversionRequest{UID: uid, DesiredAPIVersion: to, Objects: all},
		Response: &apiextensionsv1.ConversionResponse{},
	}
	answer := &apiextensionsv1.ConversionReview{}
	if err := c.call(ctx, review, answer); err != nil {
		return nil, err
	}
	expected, response := apiextensionsv1.SchemeGroupVersion.WithKind("ConversionReview"), answer.Response
	switch {
	case answer.GroupVersionKind() != expected:
		return nil, fmt.Errorf("expected webhook response of %v, got %v", expected, answer.GroupVersionKind())
	case response == nil:
		return nil, errors.New("no response provided")
	case response.UID != uid:
		return nil, fmt.Errorf("expected response.uid=%q, got %q", uid, response.UID)
	}
	return response.ConvertedObjects, resultError(response.Result)
}

// sendV1beta1Review sends a ConversionReview of apiextensions.k8s.io/v1beta1. As in Kubernetes, it does not validate the kind
// and UID of the response, which some webhooks omit.
func (c *webhookConverter) sendV1beta1Review(ctx context.Context, uid types.UID, to string, all []runtime.RawExtension) ([]runtime.RawExtension, error) {
	review := &apiextensionsv1beta1.ConversionReview{
		Request:  &apiextensionsv1beta1.ConversionRequest{UID: uid, DesiredAPIVersion: to, Objects: all},
		Response: &apiextensionsv1beta1.ConversionResponse{},
	}
	answer := &apiextensionsv1beta1.ConversionReview{}
	if err := c.call(ctx, review, answer); err != nil {
		return nil, err
	}
	if answer.Response == nil {
		return nil, errors.New("no response provided")
	}
	return answer.Response.ConvertedObjects, resultError(answer.Response.Result)
}

// call sends a ConversionReview to the webhook and decodes the response into answer. It returns an unavailableError if the
// webhook did not respond. Status codes 429, 502, 503 and 504 count as no response, because a proxy may return them.
func (c *webhookConverter) call(ctx context.Context, review, answer runtime.Object) error {
	err := c.webhooks.Call(ctx, c.target, review, answer)
	if err == nil {
		return nil
	}
	if status := (*apierrors.StatusError)(nil); errors.As(err, &status) {
		switch status.ErrStatus.Code {
		case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		default:
			return err
		}
	}
	return &unavailableError{err}
}

// resultError returns nil if result, that of a ConversionReview, has the status Success, and an error with the result's message
// for any other status.
func resultError(result metav1.Status) error {
	switch {
	case result.Status == metav1.StatusSuccess:
		return nil
	case result.Message != "":
		return errors.New(result.Message)
	}
	return fmt.Errorf("response.result.status was '%s', not 'Success'", result.Status)
}
