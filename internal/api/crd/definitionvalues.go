package crd

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/validation"
	schemavalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/cel/environment"
	"k8s.io/kube-openapi/pkg/validation/spec"
	kjson "sigs.k8s.io/json"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/builtin"
	"github.com/cadastre/cadastre/schema"
)

// definitionValues implements strategy.Values for CustomResourceDefinitions with the Go types and functions of
// apiextensions-apiserver. These are slow, but CustomResourceDefinitions are written rarely.
type definitionValues struct{}

// DecodeWith decodes a document into the Go type CustomResourceDefinition and encodes it again, which drops unknown and
// empty fields. It returns the paths of unknown fields.
func (definitionValues) DecodeWith(doc document.Value, _ builtin.DecodeOptions) (document.Value, []string, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	strict, err := kjson.UnmarshalStrict([]byte(doc.JSON()), &crd, kjson.DisallowUnknownFields)
	if err != nil {
		return doc, nil, err
	}
	var unknown []string
	for _, problem := range strict {
		if path, ok := strings.CutPrefix(problem.Error(), "unknown field "); ok {
			unknown = append(unknown, strings.Trim(path, `"`))
		}
	}
	read, err := toDocument(&crd)
	return read, unknown, err
}

func toDocument(crd *apiextensionsv1.CustomResourceDefinition) (document.Value, error) {
	text, err := json.Marshal(crd)
	if err != nil {
		return document.Value{}, err
	}
	return document.ParseJSONLimited(text, document.Limits{MaxBytes: -1})
}

// Default sets spec.names.singular, spec.names.listKind, spec.conversion.strategy, the port of the conversion webhook's
// service, and status.storedVersions where they are absent.
func (definitionValues) Default(doc document.Value) document.Value {
	spec := doc.Get("spec")
	if spec.Kind() != document.Map {
		return doc
	}
	names := spec.Get("names")
	kind := names.Get("kind").Text()
	if names.Kind() == document.Map {
		if names.Get("singular").Text() == "" && kind != "" {
			names = names.With("singular", document.NewString(strings.ToLower(kind)))
		}
		if names.Get("listKind").Text() == "" && kind != "" {
			names = names.With("listKind", document.NewString(kind+"List"))
		}
		spec = spec.With("names", names)
	}
	spec = spec.With("conversion", defaultConversion(spec.Get("conversion")))
	doc = doc.With("spec", spec)
	if doc.Lookup("status", "storedVersions").Len() == 0 && doc.Get("status").Kind() == document.Map {
		doc = withStoredVersion(doc)
	}
	return doc
}

func defaultConversion(conversion document.Value) document.Value {
	if conversion.Kind() != document.Map {
		return document.NewMap(document.Field{Name: "strategy", Value: document.NewString("None")})
	}
	webhook := conversion.Get("webhook")
	config := webhook.Get("clientConfig")
	service := config.Get("service")
	if service.Kind() != document.Map || !service.Get("port").IsAbsent() {
		return conversion
	}
	const https = 443
	service = service.With("port", document.NewInt(https))
	return conversion.With("webhook", webhook.With("clientConfig", config.With("service", service)))
}

// DefaultChanged sets the defaults of the whole document, regardless of the parts that have changed.
func (v definitionValues) DefaultChanged(doc, _ document.Value) document.Value { return v.Default(doc) }

// emptyDefinition returns the encoding of a zero CustomResourceDefinition.
var emptyDefinition = sync.OnceValue(func() document.Value {
	empty, err := toDocument(&apiextensionsv1.CustomResourceDefinition{})
	if err != nil {
		panic(err) // unreachable: a test encodes the same value
	}
	return empty
})

// Empty returns the encoding of a zero CustomResourceDefinition.
func (definitionValues) Empty() document.Value { return emptyDefinition() }

// RetainZeroValues returns doc unchanged, because decoding removes unset fields.
func (definitionValues) RetainZeroValues(doc, _ document.Value, _ *schema.Type) document.Value {
	return doc
}

// DropEmptied returns the patched object unchanged, because decoding removes empty fields.
func (definitionValues) DropEmptied(_, patched, _ document.Value) document.Value { return patched }

// DropPruned returns the merged object unchanged, because decoding removes empty fields.
func (definitionValues) DropPruned(_, merged, _ document.Value, _ *schema.Type) document.Value {
	return merged
}

// OneOfs returns an empty set of unions.
func (definitionValues) OneOfs(*schema.Type) *builtin.OneOfs { return &builtin.OneOfs{} }

// Validate returns the validation errors of a CustomResourceDefinition on create or, if old is not absent, on update.
func (definitionValues) Validate(obj, old document.Value) field.ErrorList {
	now, err := toInternal(obj)
	if err != nil {
		return decodingError(err)
	}
	if old.IsAbsent() {
		return validation.ValidateCustomResourceDefinition(context.Background(), now)
	}
	before, err := toInternal(old)
	if err != nil {
		return decodingError(err)
	}
	return append(updateErrors(obj, old), validation.ValidateCustomResourceDefinitionUpdate(context.Background(), now, before)...)
}

// CheckDefinition returns the validation errors with which the server rejects the creation of a CustomResourceDefinition. The
// error reports a document that cannot be decoded.
func CheckDefinition(doc document.Value) (field.ErrorList, error) {
	var v definitionValues
	read, _, err := v.DecodeWith(doc, builtin.DecodeOptions{})
	if err != nil {
		return nil, err
	}
	return v.Validate(withStoredVersion(v.Default(read.Without("status"))), document.Value{}), nil
}

// ValidateSubresource returns the validation errors of an update of the status, the only subresource of a
// CustomResourceDefinition.
func (definitionValues) ValidateSubresource(_ string, obj, live document.Value) field.ErrorList {
	now, err := toInternal(obj)
	if err != nil {
		return decodingError(err)
	}
	before, err := toInternal(live)
	if err != nil {
		return decodingError(err)
	}
	return append(updateErrors(obj, live), validation.ValidateUpdateCustomResourceDefinitionStatus(context.Background(), now, before)...)
}

// updateErrors returns the errors of an update's metadata. Kubernetes' validation of CustomResourceDefinitions reports some of
// them again, so clients receive these errors twice, as from kube-apiserver.
func updateErrors(obj, live document.Value) field.ErrorList {
	general, _ := builtin.CheckMetadata(obj, live, false)
	return general
}

// decodingError returns an internal error for a CustomResourceDefinition that cannot be decoded. This does not happen for
// requests, which are decoded before validation.
func decodingError(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(nil, err)}
}

// toInternal converts a CustomResourceDefinition to the internal Go type that Kubernetes' validation accepts. It sets a
// placeholder resourceVersion, because validation requires a resourceVersion, which documents in the write path do not
// contain.
func toInternal(doc document.Value) (*apiextensions.CustomResourceDefinition, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(doc.JSON()), &crd); err != nil {
		return nil, err
	}
	crd.ResourceVersion = "1"
	internal := &apiextensions.CustomResourceDefinition{}
	return internal, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, internal, nil)
}

// Warnings returns a warning for each format in the schemas that Kubernetes does not recognize and that the old schemas do
// not contain.
func (definitionValues) Warnings(obj, old document.Value) []string {
	unknown := unknownFormats(obj)
	if len(unknown) == 0 {
		return nil
	}
	before := map[string]bool{}
	for _, format := range unknownFormats(old) {
		before[format] = true
	}
	var warnings []string
	for _, format := range unknown {
		if !before[format] {
			warnings = append(warnings, fmt.Sprintf("unrecognized format %q", format))
		}
	}
	return warnings
}

// StatusWarnings returns nil: there are no warnings about the status of a CustomResourceDefinition.
func (definitionValues) StatusWarnings(_, _ document.Value) []string { return nil }

// RequestWarnings returns nil: all warnings come from Warnings.
func (definitionValues) RequestWarnings(document.Value) []string { return nil }

// unknownFormats returns the formats in the schemas of a CustomResourceDefinition that Kubernetes does not recognize.
func unknownFormats(doc document.Value) (formats []string) {
	if doc.IsAbsent() {
		return nil
	}
	crd, err := toInternal(doc)
	if err != nil {
		return nil // Validate reports the decoding error
	}
	release := environment.DefaultCompatibilityVersion()
	collect := func(s *apiextensions.JSONSchemaProps) bool {
		if s.Format != "" {
			of := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}
			formats = append(formats, schemavalidation.GetUnrecognizedFormats(of, release)...)
		}
		return false
	}
	if v := crd.Spec.Validation; v != nil && v.OpenAPIV3Schema != nil {
		validation.SchemaHas(v.OpenAPIV3Schema, collect)
	}
	for _, v := range crd.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			validation.SchemaHas(v.Schema.OpenAPIV3Schema, collect)
		}
	}
	return formats
}
