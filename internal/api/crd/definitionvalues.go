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

// definitionValues implements strategy.Values for CustomResourceDefinitions with Kubernetes' own Go types and
// functions: their rules are complex, and they are written rarely.
type definitionValues struct{}

// DecodeWith decodes a document into the Go type and encodes it again.
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

// Default sets singular and listKind, the conversion strategy, the webhook's port, and status.storedVersions.
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

// DefaultChanged calls Default for the whole document.
func (v definitionValues) DefaultChanged(doc, _ document.Value) document.Value { return v.Default(doc) }

// emptyDefinition is the encoded zero value of the Go type.
var emptyDefinition = sync.OnceValue(func() document.Value {
	empty, err := toDocument(&apiextensionsv1.CustomResourceDefinition{})
	if err != nil {
		panic(err) // unreachable: a test encodes it
	}
	return empty
})

// Empty returns the encoded zero value of the Go type.
func (definitionValues) Empty() document.Value { return emptyDefinition() }

// RetainUnset returns the document: decoding has removed unset fields.
func (definitionValues) RetainUnset(doc, _ document.Value, _ *schema.Type) document.Value { return doc }

// DropEmptied returns the document: decoding removes empty fields.
func (definitionValues) DropEmptied(_, after, _ document.Value) document.Value { return after }

// DropPruned returns the document: decoding removes empty fields.
func (definitionValues) DropPruned(_, after, _ document.Value, _ *schema.Type) document.Value {
	return after
}

// OneOfs returns none.
func (definitionValues) OneOfs(*schema.Type) *builtin.OneOfs { return &builtin.OneOfs{} }

// Validate validates a definition on create, or on update if old is not absent.
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

// ValidateStatus validates an update of the status of a definition.
func (definitionValues) ValidateStatus(obj, live document.Value) field.ErrorList {
	now, err := toInternal(obj)
	if err != nil {
		return decodingError(err)
	}
	before, err := toInternal(live)
	if err != nil {
		return decodingError(err)
	}
	return append(updateErrors(obj, live), validation.ValidateUpdateCustomResourceDefinitionStatus(now, before)...)
}

// updateErrors validates the metadata of an update. Validation of definitions repeats a part of it, as in Kubernetes.
func updateErrors(obj, live document.Value) field.ErrorList {
	general, _ := builtin.CheckMetadata(obj, live, false)
	return general
}

// decodingError returns the internal error for a definition that cannot be decoded, although it was decoded before.
func decodingError(err error) field.ErrorList {
	return field.ErrorList{field.InternalError(nil, err)}
}

// toInternal converts a definition to the internal Go type that Kubernetes validates. Validation requires a
// resourceVersion, which documents lack; the write path has checked it.
func toInternal(doc document.Value) (*apiextensions.CustomResourceDefinition, error) {
	var crd apiextensionsv1.CustomResourceDefinition
	if err := json.Unmarshal([]byte(doc.JSON()), &crd); err != nil {
		return nil, err
	}
	crd.ResourceVersion = "1"
	internal := &apiextensions.CustomResourceDefinition{}
	return internal, apiextensionsv1.Convert_v1_CustomResourceDefinition_To_apiextensions_CustomResourceDefinition(&crd, internal, nil)
}

// Warnings returns a warning for each new format that Kubernetes does not validate.
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

// StatusWarnings returns nil.
func (definitionValues) StatusWarnings(_, _ document.Value) []string { return nil }

// RequestWarnings returns nil.
func (definitionValues) RequestWarnings(document.Value) []string { return nil }

// unknownFormats returns the formats in the schemas of a definition that Kubernetes does not validate.
func unknownFormats(doc document.Value) (formats []string) {
	if doc.IsAbsent() {
		return nil
	}
	crd, err := toInternal(doc)
	if err != nil {
		return nil // Validate reports the decoding error
	}
	release := environment.DefaultCompatibilityVersion()
	look := func(s *apiextensions.JSONSchemaProps) bool {
		if s.Format != "" {
			of := &spec.Schema{SchemaProps: spec.SchemaProps{Format: s.Format, Type: []string{s.Type}}}
			formats = append(formats, schemavalidation.GetUnrecognizedFormats(of, release)...)
		}
		return false
	}
	if v := crd.Spec.Validation; v != nil && v.OpenAPIV3Schema != nil {
		validation.SchemaHas(v.OpenAPIV3Schema, look)
	}
	for _, v := range crd.Spec.Versions {
		if v.Schema != nil && v.Schema.OpenAPIV3Schema != nil {
			validation.SchemaHas(v.Schema.OpenAPIV3Schema, look)
		}
	}
	return formats
}
