package discovery

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/kube-openapi/pkg/validation/spec"
)

// openAPIVersion is a major version of OpenAPI.
type openAPIVersion int

const (
	openAPIV2 openAPIVersion = 2
	openAPIV3 openAPIVersion = 3
)

// reference returns the $ref of a definition with the given name in documents of the version.
func (v openAPIVersion) reference(name string) spec.Ref {
	if v == openAPIV2 {
		return spec.MustCreateRef("#/definitions/" + name)
	}
	return spec.MustCreateRef("#/components/schemas/" + name)
}

// definition is a named schema in an OpenAPI document: of a Go type, or of a kind without a Go type.
type definition struct {
	schema *spec.Schema
	kinds  []schema.GroupVersionKind // kinds are the kinds whose objects the schema describes; nil for types inside objects.
	refs   []string                  // refs are the names of the definitions that the schema references.
}

// definitionBuilder builds the definitions for documents of one OpenAPI version. It builds each definition once, and is
// discarded when the document is complete.
type definitionBuilder struct {
	version     openAPIVersion
	types       goTypes
	markers     markers
	definitions map[string]*definition
	inProgress  []*definition // inProgress is a stack of the definitions that are being built; each of them references the next.
}

func newDefinitionBuilder(f openAPIVersion) *definitionBuilder {
	m, err := parseMarkers(markersText)
	if err != nil {
		panic(err) // unreachable: markers.txt is embedded, and a test parses it
	}
	return &definitionBuilder{version: f, types: newGoTypes(), markers: m, definitions: map[string]*definition{}}
}

// names returns the names of all definitions, sorted.
func (d *definitionBuilder) names() []string { return slices.Sorted(maps.Keys(d.definitions)) }

// reachable returns, sorted, the names in roots and the names of all definitions that the definitions in roots reference
// directly or indirectly.
func (d *definitionBuilder) reachable(roots []string) []string {
	seen := map[string]bool{}
	for len(roots) > 0 {
		name := roots[len(roots)-1]
		roots = roots[:len(roots)-1]
		if !seen[name] {
			seen[name] = true
			roots = append(roots, d.definitions[name].refs...)
		}
	}
	return slices.Sorted(maps.Keys(seen))
}

// add adds a definition, unless there is a definition with that name already. fill builds its schema, which may reference any
// definition, including itself.
func (d *definitionBuilder) add(name string, kinds []schema.GroupVersionKind, fill func(s *spec.Schema)) {
	if d.definitions[name] != nil {
		return
	}
	made := &definition{schema: &spec.Schema{}, kinds: kinds}
	d.definitions[name] = made
	d.inProgress = append(d.inProgress, made)
	fill(made.schema)
	d.inProgress = d.inProgress[:len(d.inProgress)-1]
	slices.Sort(made.refs)
	made.refs = slices.Compact(made.refs)
}

// refer returns a schema that references the definition with the given name. It records the reference in the definition that
// is being built.
func (d *definitionBuilder) refer(name string) spec.Schema {
	if len(d.inProgress) > 0 {
		innermost := d.inProgress[len(d.inProgress)-1]
		innermost.refs = append(innermost.refs, name)
	}
	return spec.Schema{SchemaProps: spec.SchemaProps{Ref: d.version.reference(name)}}
}

// Interfaces of Go types in k8s.io/api that provide information for OpenAPI. All types implement named; most implement
// documented.
type (
	named      interface{ OpenAPIModelName() string }
	documented interface{ SwaggerDoc() map[string]string }
	scalarLike interface {
		OpenAPISchemaType() []string
		OpenAPISchemaFormat() string
	}
	oneOfScalars interface{ OpenAPIV3OneOfTypes() []string }
)

// define adds the definition of a Go type, unless it exists, and returns its name.
func (d *definitionBuilder) define(t reflect.Type) string {
	zero := reflect.Zero(t).Interface()
	name := zero.(named).OpenAPIModelName()
	d.add(name, sortedKinds(d.types.kindsOf(t)), func(s *spec.Schema) {
		s.Description = describe(t)("")
		if scalar, ok := zero.(scalarLike); ok {
			d.fillScalar(s, scalar)
			return
		}
		s.Type = spec.StringOrArray{"object"}
		d.fillFields(s, t)
		if mapType := d.markers.ofType(t).mapType; mapType != "" {
			s.AddExtension("x-kubernetes-map-type", mapType)
		}
		d.fillUnion(s, t)
	})
	return name
}

func sortedKinds(kinds []schema.GroupVersionKind) []schema.GroupVersionKind {
	slices.SortFunc(kinds, func(a, b schema.GroupVersionKind) int {
		return slices.Compare([]string{a.Group, a.Version, a.Kind}, []string{b.Group, b.Version, b.Kind})
	})
	return kinds
}

// fillScalar fills the schema of a struct that is encoded as a JSON scalar, such as metav1.Time and resource.Quantity.
func (d *definitionBuilder) fillScalar(s *spec.Schema, scalar scalarLike) {
	s.Type, s.Format = scalar.OpenAPISchemaType(), scalar.OpenAPISchemaFormat()
	several, ok := scalar.(oneOfScalars)
	if d.version == openAPIV2 || !ok {
		return
	}
	s.Type = nil
	for _, name := range several.OpenAPIV3OneOfTypes() {
		s.OneOf = append(s.OneOf, spec.Schema{SchemaProps: spec.SchemaProps{Type: spec.StringOrArray{name}}})
	}
}

// fillFields adds the fields of a struct and of the structs that are embedded in it to a schema.
func (d *definitionBuilder) fillFields(s *spec.Schema, t reflect.Type) {
	description := describe(t)
	for i := range t.NumField() {
		field := t.Field(i)
		name, options, _ := strings.Cut(field.Tag.Get("json"), ",")
		switch {
		case name == "-" || !field.IsExported():
			continue
		case name == "" && field.Anonymous:
			d.fillFields(s, deref(field.Type))
			continue
		}
		omitEmpty := strings.Contains(options, "omitempty")
		marks := d.markers.ofField(t, name)
		property := d.property(field, marks, omitEmpty)
		property.Description = description(name)
		s.SetProperty(name, d.wrapped(property))
		if marks.required || !marks.optional && !omitEmpty {
			s.Required = append(s.Required, name)
		}
	}
}

// fillUnion adds the extension x-kubernetes-unions to the schema of a struct that is marked as a union.
func (d *definitionBuilder) fillUnion(s *spec.Schema, t reflect.Type) {
	if !d.markers.ofType(t).union {
		return
	}
	union, members := map[string]any{}, map[string]any{}
	for i := range t.NumField() {
		name, _, _ := strings.Cut(t.Field(i).Tag.Get("json"), ",")
		if d.markers.ofField(t, name).discriminator {
			union["discriminator"] = name
		} else {
			members[name] = t.Field(i).Name
		}
	}
	union["fields-to-discriminateBy"] = members
	s.AddExtension("x-kubernetes-unions", []any{union})
}

// property returns the schema of a struct field with its default and its merge extensions.
func (d *definitionBuilder) property(field reflect.StructField, m *fieldMarkers, omitEmpty bool) spec.Schema {
	s := d.value(field.Type)
	s.Default = d.defaultOf(field.Type, m, omitEmpty)
	for _, extension := range []struct {
		name  string
		value string
	}{
		{"x-kubernetes-list-type", m.listType},
		{"x-kubernetes-map-type", m.mapType},
		{"x-kubernetes-patch-strategy", field.Tag.Get("patchStrategy")},
		{"x-kubernetes-patch-merge-key", field.Tag.Get("patchMergeKey")},
	} {
		if extension.value != "" {
			s.AddExtension(extension.name, extension.value)
		}
	}
	if len(m.listKeys) > 0 {
		s.AddExtension("x-kubernetes-list-map-keys", toAny(m.listKeys))
	}
	return s
}

func toAny(list []string) []any {
	out := make([]any, len(list))
	for i, s := range list {
		out[i] = s
	}
	return out
}

// value returns the schema of a Go type: for a struct, a reference to its definition.
func (d *definitionBuilder) value(t reflect.Type) spec.Schema {
	t = deref(t)
	s := spec.Schema{}
	switch t.Kind() {
	case reflect.Struct:
		return d.refer(d.define(t))
	case reflect.Map:
		element := d.element(t.Elem())
		s.Type = spec.StringOrArray{"object"}
		s.AdditionalProperties = &spec.SchemaOrBool{Allows: true, Schema: &element}
	case reflect.Slice:
		if t.Elem().Kind() == reflect.Uint8 {
			s.Type, s.Format = spec.StringOrArray{"string"}, "byte"
			break
		}
		element := d.element(t.Elem())
		s.Type = spec.StringOrArray{"array"}
		s.Items = &spec.SchemaOrArray{Schema: &element}
	default:
		scalar := scalars[t.Kind()]
		s.Type, s.Format = spec.StringOrArray{scalar.name}, scalar.format
		s.Enum = d.markers.ofType(t).enum
	}
	return s
}

// element returns the schema of the items of a list or of the values of a map.
func (d *definitionBuilder) element(t reflect.Type) spec.Schema {
	return d.wrapped(d.value(t))
}

// wrapped returns a schema in which a $ref with other keywords beside it is moved to an allOf, because OpenAPI v3 ignores
// keywords beside $ref. Other schemas are returned unchanged.
func (d *definitionBuilder) wrapped(s spec.Schema) spec.Schema {
	if d.version == openAPIV2 || s.Ref.String() == "" || s.Description == "" && s.Default == nil && len(s.Extensions) == 0 {
		return s
	}
	s.AllOf = []spec.Schema{{SchemaProps: spec.SchemaProps{Ref: s.Ref}}}
	s.Ref = spec.Ref{}
	return s
}

// scalars maps Go kinds to their OpenAPI types and formats, and to their zero values in JSON.
var scalars = map[reflect.Kind]struct {
	name, format string
	zero         any
}{
	reflect.String:  {"string", "", ""},
	reflect.Bool:    {"boolean", "", false},
	reflect.Int:     {"integer", "int32", 0},
	reflect.Int32:   {"integer", "int32", 0},
	reflect.Int64:   {"integer", "int64", 0},
	reflect.Uint16:  {"integer", "int32", 0},
	reflect.Uint32:  {"integer", "int64", 0},
	reflect.Uint64:  {"integer", "int64", 0},
	reflect.Float32: {"number", "float", 0},
	reflect.Float64: {"number", "double", 0},
}

// defaultOf returns the default of a field: the value of its default marker, or else the zero value of its Go type; nil if
// the field has no default. It returns nil for OpenAPI v2, whose documents contain no defaults.
func (d *definitionBuilder) defaultOf(t reflect.Type, m *fieldMarkers, omitEmpty bool) any {
	if d.version == openAPIV2 {
		return nil
	}
	if m.defaultValue != nil {
		return m.defaultValue
	}
	switch t.Kind() {
	case reflect.Pointer, reflect.Map, reflect.Slice, reflect.Interface:
		return nil
	case reflect.Struct:
		switch {
		case reflect.PointerTo(t).Implements(reflect.TypeFor[json.Unmarshaler]()):
			return nil // the zero value of such a type is encoded as null
		case t.NumField() == 1 && t.Field(0).Anonymous:
			return d.defaultOf(t.Field(0).Type, m, omitEmpty)
		}
		return map[string]any{}
	}
	if omitEmpty {
		return nil
	}
	return scalars[t.Kind()].zero
}

func deref(t reflect.Type) reflect.Type {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	return t
}
