package material

import (
	"encoding/json"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// generate adds two samples for each version of each kind: one with only the required properties, and one with all
// properties.
func (m *Manifest) generate() {
	for _, d := range m.Definitions {
		for _, version := range d.Typed.Spec.Versions {
			if !version.Served || version.Schema == nil {
				continue
			}
			for _, g := range []generator{{name: "minimal"}, {name: "full", all: true}} {
				m.Samples = append(m.Samples, Sample{g.name + " " + d.Typed.Name + " " + version.Name, g.object(d.Typed, version)})
			}
		}
	}
}

// generator generates values from schemas, one schema at a time. It satisfies rules and oneOf or anyOf alternatives
// that concern several fields only in simple cases. In other cases the server rejects the generated object.
type generator struct {
	name string
	all  bool // generate all properties, not only the required ones
}

// maxDepth is the maximum nesting depth at which optional properties are generated. Some schemas contain complete pod
// specs.
const maxDepth = 7

func (g generator) object(d *apiextensionsv1.CustomResourceDefinition, version apiextensionsv1.CustomResourceDefinitionVersion) *unstructured.Unstructured {
	schema := version.Schema.OpenAPIV3Schema.DeepCopy()
	for _, given := range []string{"apiVersion", "kind", "metadata"} {
		delete(schema.Properties, given)
	}
	if version.Subresources != nil && version.Subresources.Status != nil {
		delete(schema.Properties, "status")
	}
	object, _ := g.value(schema, 0).(map[string]any)
	if object == nil {
		object = map[string]any{}
	}
	object["apiVersion"] = d.Spec.Group + "/" + version.Name
	object["kind"] = d.Spec.Names.Kind
	object["metadata"] = map[string]any{"name": g.name}
	return &unstructured.Unstructured{Object: object}
}

// value generates a value from the schema s.
func (g generator) value(s *apiextensionsv1.JSONSchemaProps, depth int) any {
	switch {
	case s.Default != nil:
		return decode(s.Default.Raw)
	case len(s.Enum) > 0:
		return decode(s.Enum[0].Raw)
	case s.XIntOrString:
		return int64(1)
	}
	switch s.Type {
	case "array":
		return g.list(s, depth)
	case "string":
		return text(s)
	case "integer":
		return int64(number(s))
	case "number":
		return number(s)
	case "boolean":
		return true
	default:
		return g.fields(s, depth)
	}
}

// fields generates a map with properties of the schema s.
func (g generator) fields(s *apiextensionsv1.JSONSchemaProps, depth int) map[string]any {
	fields := map[string]any{}
	if s.XEmbeddedResource {
		fields = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "embedded"}}
	}
	required, excluded := requiredAndExcluded(s)
	for name, property := range s.Properties {
		must := slices.Contains(required, name)
		may := g.all && depth < maxDepth && !slices.Contains(excluded, name)
		if _, has := fields[name]; has || !must && !may || must && !g.all && property.Default != nil {
			continue
		}
		fields[name] = g.value(&property, depth+1)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && (g.all && depth < maxDepth || s.MinProperties != nil) {
		fields["key"] = g.value(s.AdditionalProperties.Schema, depth+1)
	}
	return fields
}

// requiredAndExcluded returns the properties of s that are required, and the properties that must be absent, if the
// first alternative of oneOf and of anyOf is selected.
func requiredAndExcluded(s *apiextensionsv1.JSONSchemaProps) (required, excluded []string) {
	required = slices.Clone(s.Required)
	for _, part := range s.AllOf {
		r, b := requiredAndExcluded(&part)
		required, excluded = append(required, r...), append(excluded, b...)
	}
	for _, alternatives := range [][]apiextensionsv1.JSONSchemaProps{s.OneOf, s.AnyOf} {
		for i, alternative := range alternatives {
			if r, _ := requiredAndExcluded(&alternative); i == 0 {
				required = append(required, r...)
			} else {
				excluded = append(excluded, r...)
			}
		}
	}
	return required, slices.DeleteFunc(excluded, func(name string) bool { return slices.Contains(required, name) })
}

func (g generator) list(s *apiextensionsv1.JSONSchemaProps, depth int) []any {
	items := []any{}
	if s.Items == nil || s.Items.Schema == nil {
		return items
	}
	if s.MinItems != nil && *s.MinItems > 0 || g.all && depth < maxDepth {
		items = append(items, g.value(s.Items.Schema, depth+1))
	}
	return items
}

func number(s *apiextensionsv1.JSONSchemaProps) float64 {
	value := 1.0
	if s.Minimum != nil && value < *s.Minimum {
		value = *s.Minimum
	}
	if s.Maximum != nil && value > *s.Maximum {
		value = *s.Maximum
	}
	if s.ExclusiveMinimum && s.Minimum != nil && value == *s.Minimum {
		value++
	}
	if s.MultipleOf != nil && *s.MultipleOf > 1 {
		value = *s.MultipleOf
	}
	return value
}

// formats maps each format that servers validate to a valid string.
var formats = map[string]string{
	"date": "2020-02-29", "date-time": "2020-02-29T12:00:00Z", "duration": "1h", "byte": "YQ==",
	"uri": "https://example.org/", "hostname": "example.org", "email": "a@example.org", "uuid": "8d9a4b9c-0a3c-4c53-9d3b-2f8a6b1c7e10",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "cidr": "192.0.2.0/24",
}

// text generates a string for the schema s. A pattern takes precedence over a format, and a format over a length.
func text(s *apiextensionsv1.JSONSchemaProps) string {
	minLength := 1
	if s.MinLength != nil {
		minLength = max(1, int(*s.MinLength))
	}
	if s.Pattern != "" {
		return matchingString(s.Pattern, minLength)
	}
	if text := formats[s.Format]; text != "" {
		return text
	}
	return strings.Repeat("a", minLength)
}

func decode(raw []byte) any {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		panic(err) // cannot fail: the value was parsed together with the definition
	}
	return value
}
