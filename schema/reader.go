package schema

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
)

// reader converts the schema objects of OpenAPI documents and of CRDs to unlinkedTypes.
//
// Call graph of its methods:
//
//	readRef     a property, an item, an additional property: a $ref, or inline
//	  read        one schema object, by its type
//	    readMap     properties, additionalProperties, x-kubernetes-map-type
//	    readList    items, x-kubernetes-list-type, patch strategies
//
// A reader does not stop at a problem: it records the problem and treats the invalid schema object as untyped.
type reader struct {
	problems
	definitions map[string]*unlinkedType
	// preserve means that all types accept undeclared fields (preserveUnknownFields of a CRD).
	preserve bool
	// custom means that the schema is from a CRD and must be structural.
	custom bool
	// objects is the number of schema objects read so far.
	objects int
}

// nonNull returns the named field, or an absent value if the field is null, because Kubernetes' Go types do not
// distinguish the two.
func nonNull(v document.Value, name string) document.Value {
	if field := v.Get(name); field.Kind() != document.Null {
		return field
	}
	return document.Value{}
}

func newReader() *reader { return &reader{definitions: map[string]*unlinkedType{}} }

// maxNesting is the maximum nesting depth of inline schemas, and maxObjects the maximum number of schema objects per
// document. Both are far beyond any schema in use and limit the cost of hostile schemas.
const maxNesting = 1_000

var maxObjects = 2 << 20 // not a constant, so that tests can lower it

// nesting is the context that a schema object inherits from the enclosing objects.
type nesting struct {
	// depth is the number of enclosing schema objects.
	depth int
	// preserve means that undeclared fields are accepted (x-kubernetes-preserve-unknown-fields). It applies to the
	// object that declares it and to the inline schemas inside, but not to referenced types.
	preserve bool
	// root means that the object is the root schema of a CRD version.
	root bool
}

func (n nesting) inside() nesting { return nesting{depth: n.depth + 1, preserve: n.preserve} }

// readRef reads a schema object that may be a reference. In OpenAPI 3 a reference that has siblings, such as a default,
// is written as an allOf with one element.
func (r *reader) readRef(v document.Value, at *location, n nesting) ref {
	reference := nonNull(v, "$ref")
	if all := v.Get("allOf"); reference.Text() == "" && all.Kind() == document.List && all.Len() == 1 {
		reference = nonNull(all.At(0), "$ref")
	}
	switch {
	case reference.Kind() == document.String && r.custom:
		r.add(at, "a structural schema, which has no $ref", "$ref "+quote(reference.Text()), "write the schema in place")
	case reference.Kind() == document.String && reference.Text() != "":
		if d, ok := r.lookup(reference.Text()); ok {
			return ref{d, r.readMapOverride(v, at), at}
		}
		r.add(at, "a $ref to a type of this document", "$ref "+quote(reference.Text()),
			"declare the type, or correct the reference")
	case reference.IsAbsent(), reference.Text() == "" && reference.Kind() == document.String:
		return ref{to: r.read(v, at, n), at: at}
	default:
		r.add(at, "a $ref that is a string", describe(reference),
			"write it like #/definitions/Name or #/components/schemas/Name")
	}
	return ref{to: unlinkedUntyped, at: at}
}

// read converts a schema object that is not a reference.
func (r *reader) read(v document.Value, at *location, n nesting) *unlinkedType {
	if !r.checkLimits(v, at, n) {
		return unlinkedUntyped
	}
	n.preserve = n.preserve || r.preserves(v, at)
	d := &unlinkedType{}
	switch word := r.typeName(v, at); word {
	case "":
		r.checkStructural(v, at)
		d.scalar = AnyScalar
		d.list = r.readList(v, at, n)
		d.fields = r.readMap(v, at, n)
	case "object":
		d.fields = r.readMap(v, at, n)
	case "array":
		r.checkItems(v, at)
		d.list = r.readList(v, at, n)
	case "integer", "number":
		d.scalar = Numeric
	case "boolean":
		d.scalar = Boolean
	case "string":
		d.scalar = stringScalar(v.Get("format").Text())
	default:
		r.add(at.field("type"), "object, array, string, integer, number or boolean", quote(word), "")
		return unlinkedUntyped
	}
	return d
}

// checkLimits reports whether v is a map, and the limits of the nesting depth and of the number of schema objects are
// not exceeded. If it returns false, it has added a problem.
func (r *reader) checkLimits(v document.Value, at *location, n nesting) bool {
	r.objects++
	switch {
	case v.Kind() != document.Map:
		r.add(at, "a schema, which is a map", describe(v), "")
	case n.depth > maxNesting:
		r.add(at, fmt.Sprintf("at most %d levels of nested schemas", maxNesting), "more levels",
			"name the inner types and refer to them")
	case r.objects == maxObjects:
		r.add(at, fmt.Sprintf("fewer than %d schema objects", maxObjects), "more schema objects", "split the document")
	case r.objects < maxObjects:
		return true
	}
	return false
}

// typeName returns the type of a schema object, "" if it declares none. For a list of types it returns the first one
// that is not null, because null is always accepted.
func (r *reader) typeName(v document.Value, at *location) string {
	t := nonNull(v, "type")
	for _, item := range t.Items() {
		if item.Text() != "null" {
			t = item
			break
		}
	}
	switch {
	case t.Kind() == document.String:
		return t.Text()
	case t.IsAbsent(), t.Kind() == document.List && t.Len() == 0:
		return ""
	}
	r.add(at.field("type"), "the name of a type", describe(t), "")
	return ""
}

// stringScalar returns the scalars that a field of type string and the given format accepts. Any format other than
// byte, such as int-or-string, may allow JSON that is not a string.
func stringScalar(format string) Scalar {
	if format == "" || format == "byte" {
		return String
	}
	return AnyScalar
}

func (r *reader) readMap(v document.Value, at *location, n nesting) *unlinkedMap {
	m := &unlinkedMap{atomic: r.readMapOverride(v, at) == toAtomic, fields: r.readFields(v, at, n)}
	if r.custom && (n.root || r.readFlag(v, at, "x-kubernetes-embedded-resource")) {
		m.fields = r.withResourceFields(m.fields)
	}
	more := nonNull(v, "additionalProperties")
	at = at.field("additionalProperties")
	switch {
	case more.IsAbsent():
		// An object without properties accepts any field.
		if n.preserve || len(m.fields) == 0 {
			m.element = ref{to: unlinkedUntyped, at: at}
		}
	case r.custom && n.root:
		r.add(at, "no additionalProperties at the root of a kind", describe(more), "declare properties")
	case more.Kind() == document.Bool:
		if more.Bool() {
			m.element = ref{to: unlinkedUntyped, at: at}
		}
	default:
		m.element = r.readRef(more, at, n.inside())
	}
	return m
}

func (r *reader) readFields(v document.Value, at *location, n nesting) []unlinkedField {
	properties := nonNull(v, "properties")
	at = at.field("properties")
	if properties.IsAbsent() {
		return nil
	}
	if properties.Kind() != document.Map {
		r.add(at, "a map of schemas by name", describe(properties), "")
		return nil
	}
	fields := make([]unlinkedField, 0, properties.Len())
	for name, property := range properties.Fields() {
		fields = append(fields, unlinkedField{
			name:         name,
			value:        r.readRef(property, at.field(name), n.inside()),
			defaultValue: property.Get("default"),
		})
	}
	return fields
}

func (r *reader) readList(v document.Value, at *location, n nesting) *unlinkedList {
	list := &unlinkedList{at: at, item: ref{to: unlinkedOpaque, at: at}}
	list.associative, list.keys = r.readListRelationship(v, at)
	if items := nonNull(v, "items"); !items.IsAbsent() {
		list.item = r.readRef(items, at.field("items"), n.inside())
	}
	return list
}

// checkItems adds a problem if an array has no schema for its items.
func (r *reader) checkItems(v document.Value, at *location) {
	if nonNull(v, "items").IsAbsent() {
		r.add(at, "the schema of the items of an array", "no items", "write items: {} to accept anything")
	}
}
