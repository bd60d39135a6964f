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

// exchange sends objects to a webhook in a ConversionReview of one version and returns the converted objects.
type exchange func(c *webhookConverter, ctx context.Context, uid types.UID, to string, all []runtime.RawExtension) ([]runtime.RawExtension, error)

var exchanges = map[string]exchange{
	apiextensionsv1.SchemeGroupVersion.Version:      (*webhookConverter).exchange,
	apiextensionsv1beta1.SchemeGroupVersion.Version: (*webhookConverter).exchangeOld,
}

// firstExchange returns the exchange of the first supported version.
func firstExchange(versions document.Value) (exchange, error) {
	for _, version := range versions.Items() {
		if e, ok := exchanges[version.Text()]; ok {
			return e, nil
		}
	}
	return nil, errors.New("no supported conversion review versions")
}

func (c *webhookConverter) exchange(ctx context.Context, uid types.UID, to string, all []runtime.RawExtension) ([]runtime.RawExtension, error) {
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

// exchangeOld does not validate the kind and UID of the response: Kubernetes does not at v1beta1, and some webhooks
// omit them.
func (c *webhookConverter) exchangeOld(ctx context.Context, uid types.UID, to string, all []runtime.RawExtension) ([]runtime.RawExtension, error) {
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

// call calls the webhook. Status codes 429, 502, 503 and 504, which a proxy may return, count as unavailable.
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

// resultError returns the error of a response that is not a success.
func resultError(result metav1.Status) error {
	switch {
	case result.Status == metav1.StatusSuccess:
		return nil
	case result.Message != "":
		return errors.New(result.Message)
	}
	return fmt.Errorf("response.result.status was '%s', not 'Success'", result.Status)
}
