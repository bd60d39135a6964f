package crd

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"
	"time"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apiextensionsv1beta1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1beta1"
	apivalidation "k8s.io/apimachinery/pkg/api/validation"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/uuid"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/webhookclient"
)

// ConversionTimeout is the timeout of one call to a conversion webhook, as in Kubernetes.
const ConversionTimeout = 30 * time.Second

// Webhooks is a client that calls conversion webhooks.
type Webhooks interface {
	// Call sends a ConversionReview to the webhook at target and decodes the response into answer.
	Call(ctx context.Context, target *webhookclient.Target, review, answer runtime.Object) error
}

// NewWebhooks returns a client for conversion webhooks.
func NewWebhooks() (Webhooks, error) {
	return webhookclient.NewCaller(webhookclient.Options{
		Register: []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme},
		Versions: []schema.GroupVersion{apiextensionsv1.SchemeGroupVersion, apiextensionsv1beta1.SchemeGroupVersion},
	})
}

// webhookConverter implements the conversion strategy Webhook.
type webhookConverter struct {
	webhooks Webhooks
	target   *webhookclient.Target
	// sendReview sends a ConversionReview in the first version that both the webhook and Cadastre support.
	sendReview reviewSender
	// err is the error of an invalid configuration, which every conversion returns; nil if the configuration is valid.
	err error
}

func newWebhook(d *Definition, webhooks Webhooks) *webhookConverter {
	from := d.conversion.Get("webhook")
	config := from.Get("clientConfig")
	c := &webhookConverter{webhooks: webhooks, target: &webhookclient.Target{URL: config.Get("url").Text()}}
	if service := config.Get("service"); service.Kind() == document.Map {
		port, _ := service.Get("port").Int64()
		c.target.Service = &webhookclient.Service{
			Namespace: service.Get("namespace").Text(), Name: service.Get("name").Text(), Path: service.Get("path").Text(), Port: int32(port),
		}
	}
	if c.target.CABundle, c.err = base64.StdEncoding.DecodeString(config.Get("caBundle").Text()); c.err != nil {
		c.err = fmt.Errorf("spec.conversion.webhook.clientConfig.caBundle: %w", c.err)
	}
	if strings.TrimSpace(string(c.target.CABundle)) == "" {
		c.target.CABundle = nil
	}
	if c.err == nil {
		c.sendReview, c.err = firstSupportedSender(from.Get("conversionReviewVersions"))
	}
	return c
}

// Convert implements Converter. It sends all objects in one ConversionReview. If this review fails, Convert finds the object
// that cannot be converted: it sends one ConversionReview per object, as Kubernetes does.
func (c *webhookConverter) Convert(ctx context.Context, all []document.Value, to string) ([]document.Value, error) {
	converted, err := c.convertBatch(ctx, all, to)
	if err == nil || len(all) == 1 || errors.Is(err, context.DeadlineExceeded) || ctx.Err() != nil {
		return converted, err
	}
	for i := range all {
		one, err := c.convertBatch(ctx, all[i:i+1], to)
		if err != nil {
			return converted, err
		}
		converted = append(converted, one[0])
	}
	return converted, nil
}

// convertBatch converts all objects with one ConversionReview, and returns either all converted objects or an error. A
// single object that consists only of apiVersion and kind is converted without a call to the webhook.
func (c *webhookConverter) convertBatch(ctx context.Context, all []document.Value, to string) ([]document.Value, error) {
	if len(all) == 1 && hasOnlyType(all[0]) {
		return noneConverter{}.Convert(ctx, all, to)
	}
	converted, err := c.send(ctx, all, to)
	if err != nil {
		return nil, err
	}
	for i, doc := range all {
		if converted[i], err = acceptConverted(doc, converted[i], to); err != nil {
			return nil, fmt.Errorf("conversion webhook for %s returned %w", kindText(doc), err)
		}
	}
	return converted, nil
}

func hasOnlyType(doc document.Value) bool {
	return doc.Len() == 2 && !doc.Get("kind").IsAbsent() && !doc.Get("apiVersion").IsAbsent()
}

// acceptConverted validates an object that the webhook has converted from doc, and returns it with the metadata of doc,
// except for labels and annotations, which a webhook may change.
func acceptConverted(doc, converted document.Value, to string) (document.Value, error) {
	if err := checkType(doc, converted, to); err != nil {
		// The index in Kubernetes' message is always 0, because Kubernetes converts objects one by one.
		return doc, fmt.Errorf("invalid object at index 0: %w", err)
	}
	if err := checkIdentity(doc, converted); err != nil {
		return doc, fmt.Errorf("invalid object: %w", err)
	}
	restored, err := withMetadata(converted, doc)
	if err != nil {
		return doc, fmt.Errorf("invalid metadata: %w", err)
	}
	return restored, nil
}

// kindText formats the group, version and kind of an object as in Kubernetes' errors.
func kindText(doc document.Value) string {
	return schema.FromAPIVersionAndKind(doc.Get("apiVersion").Text(), doc.Get("kind").Text()).String()
}

// send sends the objects in all to the webhook in one ConversionReview. It returns the converted objects, which have the same
// number and order.
func (c *webhookConverter) send(ctx context.Context, all []document.Value, to string) ([]document.Value, error) {
	if c.err != nil {
		return nil, &unavailableError{c.err}
	}
	ctx, cancel := context.WithTimeout(ctx, ConversionTimeout)
	defer cancel()
	sent := make([]runtime.RawExtension, len(all))
	for i, doc := range all {
		sent[i].Raw = []byte(doc.JSON())
	}
	received, err := c.sendReview(c, ctx, uuid.NewUUID(), to, sent)
	if err != nil {
		return nil, fmt.Errorf("conversion webhook for %s failed: %w", kindText(all[0]), err)
	}
	if len(received) != len(all) {
		return nil, fmt.Errorf("conversion webhook for %s returned %d objects, expected %d", kindText(all[0]), len(received), len(all))
	}
	converted := make([]document.Value, len(received))
	for i, one := range received {
		if converted[i], err = document.ParseJSON(one.Raw); err != nil {
			return nil, fmt.Errorf("conversion webhook for %s returned invalid object: %w", kindText(all[i]), err)
		}
	}
	return converted, nil
}

// checkType returns an error if converted does not have the apiVersion to, or does not have the kind of doc, the original
// object.
func checkType(doc, converted document.Value, to string) error {
	if converted.Kind() != document.Map {
		return fmt.Errorf("expected an object, received a %s", converted.Kind())
	}
	if got := converted.Get("apiVersion").Text(); got != to {
		return fmt.Errorf("invalid groupVersion (expected %v, received %v)", to, got)
	}
	if was, is := doc.Get("kind").Text(), converted.Get("kind").Text(); was != is {
		return fmt.Errorf("invalid kind (expected %v, received %v)", was, is)
	}
	return nil
}

// checkIdentity returns an error if the webhook has changed the name, namespace or UID of an object.
func checkIdentity(doc, converted document.Value) error {
	for _, same := range []struct{ what, field string }{{"name", "name"}, {"namespace", "namespace"}, {"UID", "uid"}} {
		if was, is := doc.Lookup("metadata", same.field).Text(), converted.Lookup("metadata", same.field).Text(); was != is {
			return fmt.Errorf("must have the same %s: %v != %v", same.what, was, is)
		}
	}
	return nil
}

// withMetadata returns a converted object with the metadata of the original object, except for labels and annotations, which
// the webhook may change.
func withMetadata(converted, original document.Value) (document.Value, error) {
	convertedMetadata := converted.Get("metadata")
	switch convertedMetadata.Kind() {
	case document.Map:
	case document.Absent:
		return converted, errors.New("missing metadata in converted object")
	default:
		return converted, fmt.Errorf("invalid metadata of type %T in converted object", convertedMetadata.ToGo())
	}
	metadata := original.Get("metadata")
	if metadata.Kind() != document.Map {
		metadata = document.NewMap()
	}
	for _, name := range []string{"labels", "annotations"} {
		value := convertedMetadata.Get(name)
		if value.IsAbsent() || value.IsNull() {
			metadata = metadata.Without(name)
			continue
		}
		if err := checkMetadataMap(name, value, metadata.Get(name)); err != nil {
			return converted, err
		}
		metadata = metadata.With(name, value)
	}
	return converted.With("metadata", metadata), nil
}

// checkMetadataMap returns an error if the webhook has changed labels or annotations to an invalid value. name is labels or
// annotations.
func checkMetadataMap(name string, converted, original document.Value) error {
	if converted.Kind() != document.Map {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, converted.ToGo())
	}
	all := make(map[string]string, converted.Len())
	for key, value := range converted.Fields() {
		if value.Kind() != document.String {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, value.ToGo())
		}
		all[key] = value.Text()
	}
	if document.Equal(converted, original) {
		return nil
	}
	var errs field.ErrorList
	if name == "labels" {
		errs = metav1validation.ValidateLabels(all, field.NewPath("metadata", "labels"))
	} else {
		errs = apivalidation.ValidateAnnotations(all, field.NewPath("metadata", "annotation"))
	}
	return errs.ToAggregate()
}
