package material

import (
	"encoding/json"
	"slices"
	"strings"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
)

// generate adds two samples for each version of each kind: one that has what must be there, and one that has everything.
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

// A generator makes a value of a schema. It looks at one schema at a time: what rules and alternatives say about several
// fields together it follows only in the plainest cases, and then the server refuses what it made.
type generator struct {
	name string
	all  bool // every property, not only those that must be there
}

// deepest is how far down all properties are made. Schemas have whole pods in them.
const deepest = 7

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

// value makes a value of a schema.
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

// fields makes an object, or what may be anything.
func (g generator) fields(s *apiextensionsv1.JSONSchemaProps, depth int) map[string]any {
	made := map[string]any{}
	if s.XEmbeddedResource {
		made = map[string]any{"apiVersion": "v1", "kind": "ConfigMap", "metadata": map[string]any{"name": "embedded"}}
	}
	required, banned := choices(s)
	for name, property := range s.Properties {
		must := slices.Contains(required, name)
		may := g.all && depth < deepest && !slices.Contains(banned, name)
		if _, has := made[name]; has || !must && !may || must && !g.all && property.Default != nil {
			continue
		}
		made[name] = g.value(&property, depth+1)
	}
	if s.AdditionalProperties != nil && s.AdditionalProperties.Schema != nil && (g.all && depth < deepest || s.MinProperties != nil) {
		made["key"] = g.value(s.AdditionalProperties.Schema, depth+1)
	}
	return made
}

// choices are the properties that must be there, and those that must not, if the first of all alternatives is taken.
func choices(s *apiextensionsv1.JSONSchemaProps) (required, banned []string) {
	required = slices.Clone(s.Required)
	for _, part := range s.AllOf {
		r, b := choices(&part)
		required, banned = append(required, r...), append(banned, b...)
	}
	for _, alternatives := range [][]apiextensionsv1.JSONSchemaProps{s.OneOf, s.AnyOf} {
		for i, alternative := range alternatives {
			if r, _ := choices(&alternative); i == 0 {
				required = append(required, r...)
			} else {
				banned = append(banned, r...)
			}
		}
	}
	return required, slices.DeleteFunc(banned, func(name string) bool { return slices.Contains(required, name) })
}

func (g generator) list(s *apiextensionsv1.JSONSchemaProps, depth int) []any {
	made := []any{}
	if s.Items == nil || s.Items.Schema == nil {
		return made
	}
	if s.MinItems != nil && *s.MinItems > 0 || g.all && depth < deepest {
		made = append(made, g.value(s.Items.Schema, depth+1))
	}
	return made
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

// formats are strings of the formats that servers check.
var formats = map[string]string{
	"date": "2020-02-29", "date-time": "2020-02-29T12:00:00Z", "duration": "1h", "byte": "YQ==",
	"uri": "https://example.org/", "hostname": "example.org", "email": "a@example.org", "uuid": "8d9a4b9c-0a3c-4c53-9d3b-2f8a6b1c7e10",
	"ipv4": "192.0.2.1", "ipv6": "2001:db8::1", "cidr": "192.0.2.0/24",
}

// text makes a string. A pattern goes before a format, and a format before a length.
func text(s *apiextensionsv1.JSONSchemaProps) string {
	shortest := 1
	if s.MinLength != nil {
		shortest = max(1, int(*s.MinLength))
	}
	if s.Pattern != "" {
		return matching(s.Pattern, shortest)
	}
	if text := formats[s.Format]; text != "" {
		return text
	}
	return strings.Repeat("a", shortest)
}

func decode(raw []byte) any {
	var value any
	if err := json.Unmarshal(raw, &value); err != nil {
		panic(err) // it was parsed when the definition was
	}
	return value
}
