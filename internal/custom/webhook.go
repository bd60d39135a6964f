package custom

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
	"github.com/cadastre/cadastre/internal/webhook"
)

// conversionTime is how long a webhook has to convert an object. It is that of Kubernetes.
const conversionTime = 30 * time.Second

// Webhooks calls those that convert objects.
type Webhooks interface {
	Call(ctx context.Context, target *webhook.Target, review, answer runtime.Object) error
}

// NewWebhooks returns what calls webhooks. Nothing is called before an object must be converted.
func NewWebhooks() (Webhooks, error) {
	return webhook.NewCaller(webhook.Options{
		Register: []func(*runtime.Scheme) error{apiextensionsv1.AddToScheme, apiextensionsv1beta1.AddToScheme},
		Versions: []schema.GroupVersion{apiextensionsv1.SchemeGroupVersion, apiextensionsv1beta1.SchemeGroupVersion},
	})
}

// webhookConverter is the conversion by a program of the definition's author.
type webhookConverter struct {
	webhooks Webhooks
	target   *webhook.Target
	// exchangeAt sends objects at a version that the webhook knows.
	exchangeAt exchange
	// err is why nothing can be converted.
	err error
}

func newWebhook(r *reading, webhooks Webhooks) *webhookConverter {
	from := r.conversion.Get("webhook")
	config := from.Get("clientConfig")
	c := &webhookConverter{webhooks: webhooks, target: &webhook.Target{URL: config.Get("url").Text()}}
	if service := config.Get("service"); service.Kind() == document.Map {
		port, _ := service.Get("port").Int64()
		c.target.Service = &webhook.Service{
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
		c.exchangeAt, c.err = firstExchange(from.Get("conversionReviewVersions"))
	}
	return c
}

// Convert implements converter. What has neither metadata nor content needs no webhook.
func (c *webhookConverter) Convert(doc document.Value, to string) (document.Value, error) {
	if doc.Len() == 2 && !doc.Get("kind").IsAbsent() && !doc.Get("apiVersion").IsAbsent() {
		return none{}.Convert(doc, to)
	}
	converted, err := c.ask(doc, to)
	if err != nil {
		return doc, err
	}
	if err := checkConverted(doc, converted, to); err != nil {
		return doc, fmt.Errorf("conversion webhook for %s returned invalid object: %w", kindText(doc), err)
	}
	restored, err := withMetadata(converted, doc)
	if err != nil {
		return doc, fmt.Errorf("conversion webhook for %s returned invalid metadata: %w", kindText(doc), err)
	}
	return restored, nil
}

// kindText names the kind of an object as Kubernetes does in errors.
func kindText(doc document.Value) string {
	return schema.FromAPIVersionAndKind(doc.Get("apiVersion").Text(), doc.Get("kind").Text()).String()
}

// ask has the webhook convert an object.
func (c *webhookConverter) ask(doc document.Value, to string) (document.Value, error) {
	if c.err != nil {
		return doc, c.err
	}
	ctx, cancel := context.WithTimeout(context.Background(), conversionTime)
	defer cancel()
	converted, err := c.exchangeAt(c, ctx, uuid.NewUUID(), to, []runtime.RawExtension{{Raw: []byte(doc.JSON())}})
	if err != nil {
		return doc, fmt.Errorf("conversion webhook for %s failed: %w", kindText(doc), err)
	}
	if len(converted) != 1 {
		return doc, fmt.Errorf("conversion webhook for %s returned %d objects, expected 1", kindText(doc), len(converted))
	}
	read, err := document.ParseJSON(converted[0].Raw)
	if err != nil {
		return doc, fmt.Errorf("conversion webhook for %s returned invalid object: %w", kindText(doc), err)
	}
	return read, nil
}

// checkConverted refuses what is another object, or at another version than was asked for.
func checkConverted(doc, converted document.Value, to string) error {
	if converted.Kind() != document.Map {
		return fmt.Errorf("expected an object, received a %s", converted.Kind())
	}
	if got := converted.Get("apiVersion").Text(); got != to {
		return fmt.Errorf("invalid groupVersion (expected %v, received %v)", to, got)
	}
	for _, same := range []struct {
		what string
		path []string
	}{
		{"kind", []string{"kind"}},
		{"name", []string{"metadata", "name"}},
		{"namespace", []string{"metadata", "namespace"}},
		{"UID", []string{"metadata", "uid"}},
	} {
		if was, is := doc.Lookup(same.path...).Text(), converted.Lookup(same.path...).Text(); was != is {
			return fmt.Errorf("must have the same %s: %v != %v", same.what, was, is)
		}
	}
	return nil
}

// withMetadata gives a converted object the metadata that it had before: a webhook may only change labels and
// annotations.
func withMetadata(converted, before document.Value) (document.Value, error) {
	answered := converted.Get("metadata")
	switch answered.Kind() {
	case document.Map:
	case document.Absent:
		return converted, errors.New("missing metadata in converted object")
	default:
		return converted, fmt.Errorf("invalid metadata of type %T in converted object", answered.ToGo())
	}
	metadata := before.Get("metadata")
	if metadata.Kind() != document.Map {
		metadata = document.NewMap()
	}
	for _, name := range []string{"labels", "annotations"} {
		given := answered.Get(name)
		if given.IsAbsent() || given.IsNull() {
			metadata = metadata.Without(name)
			continue
		}
		if err := checkTexts(name, given, metadata.Get(name)); err != nil {
			return converted, err
		}
		metadata = metadata.With(name, given)
	}
	return converted.With("metadata", metadata), nil
}

// checkTexts refuses labels or annotations that no object may have, unless it had them before.
func checkTexts(name string, given, before document.Value) error {
	if given.Kind() != document.Map {
		return fmt.Errorf("invalid metadata.%s of type %T in converted object", name, given.ToGo())
	}
	all := make(map[string]string, given.Len())
	for key, value := range given.Fields() {
		if value.Kind() != document.String {
			return fmt.Errorf("metadata.%s[%s] must be a string, but is %T in converted object", name, key, value.ToGo())
		}
		all[key] = value.Text()
	}
	if document.Equal(given, before) {
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
