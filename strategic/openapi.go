package strategic

import (
	"errors"
	"fmt"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Schema has the types of an OpenAPI document, some of which are kinds.
type Schema struct {
	types map[string]*Type
	kinds map[groupVersionKind]*Type
}

type groupVersionKind struct{ group, version, kind string }

// Type returns the type with the given name.
func (s *Schema) Type(name string) (*Type, bool) {
	t, ok := s.types[name]
	return t, ok
}

// Kind returns the root type of a kind. The group of core kinds is empty.
func (s *Schema) Kind(group, version, kind string) (*Type, bool) {
	t, ok := s.kinds[groupVersionKind{group, version, kind}]
	return t, ok
}

// LoadOpenAPI loads the patch strategies of an OpenAPI document, version 2 or 3: the extensions
// x-kubernetes-patch-strategy and x-kubernetes-patch-merge-key. Everything else is ignored; an unresolved reference is
// a type without strategies. The types do not keep the document alive.
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

type openAPIReader struct {
	definitions document.Value
	schema      *Schema
	problems    []error
}

// maxNesting is how deep schemas may nest in place, and how many references may follow each
// other.
const maxNesting = 100

// fill reads the fields that a schema object declares.
func (r *openAPIReader) fill(t *Type, object document.Value, at string, depth int) {
	if depth > maxNesting {
		r.problems = append(r.problems, fmt.Errorf("strategic: %s: expected at most %d levels, received more", clip(at), maxNesting))
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

// strategy reads the extensions of a field, which are beside a reference or behind it.
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

// resolve follows the references of a schema object, and returns the name of the definition
// that they lead to, if any.
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

// addKinds adds the kinds that a definition is the root of. If two claim a kind, the one whose
// name sorts first has it.
func (r *openAPIReader) addKinds(t *Type, definition document.Value) {
	for _, item := range definition.Get("x-kubernetes-group-version-kind").Items() {
		text := func(name string) string { return strings.Clone(item.Get(name).Text()) }
		kind := groupVersionKind{text("group"), text("version"), text("kind")}
		if r.schema.kinds[kind] == nil {
			r.schema.kinds[kind] = t
		}
	}
}
