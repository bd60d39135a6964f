package strategic

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Schema contains the patch strategies of the types of an OpenAPI document, by type name and by kind.
type Schema struct {
	types map[string]*Type
	kinds map[groupVersionKind]*Type
}

type groupVersionKind struct{ group, version, kind string }

// Type returns the type with the given name, and whether it exists.
func (s *Schema) Type(name string) (*Type, bool) {
	t, ok := s.types[name]
	return t, ok
}

// Kind returns the type of a kind, and whether it exists. The group of core kinds such as Pod is empty.
func (s *Schema) Kind(group, version, kind string) (*Type, bool) {
	t, ok := s.kinds[groupVersionKind{group, version, kind}]
	return t, ok
}

// LoadOpenAPI loads the patch strategies of an OpenAPI document, version 2 or 3, from the extensions
// x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key. It ignores everything else; a reference that can't be
// resolved is a type without strategies. The types do not keep the document in memory. The error joins all invalid
// strategies.
func LoadOpenAPI(doc document.Value) (*Schema, error) {
	definitions := doc.Get("definitions")
	if definitions.IsAbsent() {
		definitions = doc.Lookup("components", "schemas")
	}
	if definitions.Kind() != document.Map {
		return nil, fmt.Errorf("strategic: expected an OpenAPI document with definitions or components.schemas, received %s", describe(definitions))
	}
	r := &openAPIReader{
		definitions: definitions,
		schema:      &Schema{types: make(map[string]*Type, definitions.Len()), kinds: map[groupVersionKind]*Type{}},
	}
	for name := range definitions.Fields() {
		r.schema.types[strings.Clone(name)] = &Type{}
	}
	for name, definition := range definitions.Fields() {
		t := r.schema.types[name]
		r.fill(t, definition, name, 0)
		r.addKinds(t, definition)
	}
	return r.schema, errors.Join(r.problems...)
}

// openAPIReader converts the definitions of an OpenAPI document to the types of schema.
type openAPIReader struct {
	definitions document.Value
	schema      *Schema
	problems    []error
}

// maxNesting is the maximum nesting depth of inline schemas, and the maximum length of a chain of references.
const maxNesting = 100

// fill sets the fields and the element of a type from a schema object; at is its path for errors.
func (r *openAPIReader) fill(t *Type, object document.Value, at string, depth int) {
	if depth > maxNesting {
		r.problems = append(r.problems, fmt.Errorf("strategic: %s: expected at most %d levels of nested schemas, received more", clip(at), maxNesting))
		return
	}
	properties := object.Get("properties")
	if properties.Len() > 0 {
		t.fields = make(map[string]*field, properties.Len())
	}
	for name, property := range properties.Fields() {
		t.fields[strings.Clone(name)] = r.field(property, at+"."+name, depth)
	}
	if element := object.Get("additionalProperties"); element.Kind() == document.Map {
		t.element = r.field(element, at+".*", depth)
	}
}

// field returns the patch strategy and type of a property.
func (r *openAPIReader) field(object document.Value, at string, depth int) *field {
	target, name := r.resolve(object)
	f := &field{strategy: r.strategy(object, target, at)}
	if items := target.Get("items"); !items.IsAbsent() {
		target, name = r.resolve(items)
	}
	switch {
	case name != "":
		f.typ = r.schema.types[name]
	case target.Get("properties").Len() > 0 || target.Get("additionalProperties").Kind() == document.Map:
		f.typ = &Type{}
		r.fill(f.typ, target, at, depth+1)
	}
	return f
}

// strategy returns the patch strategy of a property. Extensions beside a $ref have precedence over those of the
// referenced definition, target.
func (r *openAPIReader) strategy(object, target document.Value, at string) strategy {
	get := func(extension string) string {
		if v := object.Get(extension); !v.IsAbsent() {
			return v.Text()
		}
		return target.Get(extension).Text()
	}
	s, err := readStrategy(get("x-kubernetes-patch-strategy"), strings.Clone(get("x-kubernetes-patch-merge-key")))
	if err != nil {
		r.problems = append(r.problems, fmt.Errorf("strategic: %s: %w", clip(at), err))
		return strategy{}
	}
	return s
}

// resolve follows the references of the schema object. It returns the referenced schema object and the name of its
// definition. If object is not a reference, it returns object and "".
func (r *openAPIReader) resolve(object document.Value) (target document.Value, name string) {
	for range maxNesting {
		ref := object.Get("$ref")
		if all := object.Get("allOf"); ref.IsAbsent() && all.Kind() == document.List && all.Len() == 1 {
			ref = all.At(0).Get("$ref")
		}
		if ref.Kind() != document.String {
			return object, name
		}
		name = ref.Text()[strings.LastIndexByte(ref.Text(), '/')+1:]
		object = r.definitions.Get(name)
	}
	return document.Value{}, ""
}

// addKinds registers a definition for the kinds in its x-kubernetes-group-version-kind. If two definitions declare the
// same kind, the definition whose name sorts first is used.
func (r *openAPIReader) addKinds(t *Type, definition document.Value) {
	for _, item := range definition.Get("x-kubernetes-group-version-kind").Items() {
		text := func(name string) string { return strings.Clone(item.Get(name).Text()) }
		kind := groupVersionKind{text("group"), text("version"), text("kind")}
		if r.schema.kinds[kind] == nil {
			r.schema.kinds[kind] = t
		}
	}
}
