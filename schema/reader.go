package schema

import "github.com/cadastre/cadastre/document"

// reader reads OpenAPI schema objects, of OpenAPI documents and of CRDs, as drafts.
//
// Call graph of its methods:
//
//	readRef     a property, an item, an additional property: a $ref, or inline
//	  read        one schema object, by its type
//	    readMap     properties, additionalProperties, x-kubernetes-map-type
//	    readList    items, x-kubernetes-list-type, patch strategies
//
// A reader does not stop at a problem: it records the problem and continues as if the part were untyped.
type reader struct {
	problems
	definitions map[string]*draft
	// preserve means that all types preserve undeclared fields.
	preserve bool
	// custom means that the schema is that of a CRD, which must be structural.
	custom bool
	// objects is the number of schema objects read so far.
	objects int
}

// nonNull returns the named field, absent if it is null: Kubernetes' Go types do not distinguish the two.
func nonNull(v document.Value, name string) document.Value {
	if field := v.Get(name); field.Kind() != document.Null {
		return field
	}
	return document.Value{}
}

func newReader() *reader { return &reader{definitions: map[string]*draft{}} }

// maxNesting is the maximum nesting of a schema, and maxObjects the maximum number of schema objects. Both are far
// beyond any schema in use, and limit the cost of hostile schemas.
const maxNesting = 1_000

var maxObjects = 2 << 20 // a variable so that tests can lower it

// nesting is the context that a schema object inherits from the objects around it.
type nesting struct {
	// depth is the number of enclosing objects.
	depth int
	// preserve means that undeclared fields are preserved. It applies to the objects inside of the object that declares
	// it, but not to references.
	preserve bool
	// root means that the object is the root of a CRD's version.
	root bool
}

func (n nesting) inside() nesting { return nesting{depth: n.depth + 1, preserve: n.preserve} }

// readRef reads a schema object that may be a reference. In OpenAPI 3 a reference with siblings, such as a default, is
// an allOf with one element.
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
			return ref{d, r.mapOverride(v, at), at}
		}
		r.add(at, "a $ref to a type of this document", "$ref "+quote(reference.Text()),
			"declare the type, or correct the reference")
	case reference.IsAbsent(), reference.Text() == "" && reference.Kind() == document.String:
		return ref{to: r.read(v, at, n), at: at}
	default:
		r.add(at, "a $ref that is a string", describe(reference),
			"write it like #/definitions/Name or #/components/schemas/Name")
	}
	return ref{to: untypedDraft, at: at}
}

// read reads a schema object that is not a reference.
func (r *reader) read(v document.Value, at *location, n nesting) *draft {
	if !r.checkLimits(v, at, n) {
		return untypedDraft
	}
	n.preserve = n.preserve || r.preserves(v, at)
	d := &draft{}
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
		return untypedDraft
	}
	return d
}

// checkLimits reports whether v is a schema object within the limits.
func (r *reader) checkLimits(v document.Value, at *location, n nesting) bool {
	r.objects++
	switch {
	case v.Kind() != document.Map:
		r.add(at, "a schema, which is a map", describe(v), "")
	case n.depth > maxNesting:
		r.add(at, "schemas nested less deep than the limit", "more levels than it allows",
			"name the inner types and refer to them")
	case r.objects == maxObjects:
		r.add(at, "fewer schemas than the limit", "a document with too many", "split it")
	case r.objects < maxObjects:
		return true
	}
	return false
}

// typeName returns the type of a schema object, or "" if it has none. Of a list of types it returns the first that is
// not null, because null is always accepted.
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

// stringScalar returns the scalars that a string with the given format accepts. Formats other than byte, such as
// int-or-string, may allow JSON that is not a string.
func stringScalar(format string) Scalar {
	if format == "" || format == "byte" {
		return String
	}
	return AnyScalar
}

func (r *reader) readMap(v document.Value, at *location, n nesting) *mapDraft {
	m := &mapDraft{atomic: r.mapOverride(v, at) == toAtomic, fields: r.readFields(v, at, n)}
	if r.custom && (n.root || r.flag(v, at, "x-kubernetes-embedded-resource")) {
		m.fields = r.withResourceFields(m.fields)
	}
	more := nonNull(v, "additionalProperties")
	at = at.field("additionalProperties")
	switch {
	case more.IsAbsent():
		// An object without properties is a free-form object.
		if n.preserve || len(m.fields) == 0 {
			m.element = ref{to: untypedDraft, at: at}
		}
	case r.custom && n.root:
		r.add(at, "nothing at the root of a kind", describe(more), "declare properties")
	case more.Kind() == document.Bool:
		if more.Bool() {
			m.element = ref{to: untypedDraft, at: at}
		}
	default:
		m.element = r.readRef(more, at, n.inside())
	}
	return m
}

func (r *reader) readFields(v document.Value, at *location, n nesting) []fieldDraft {
	properties := nonNull(v, "properties")
	at = at.field("properties")
	if properties.IsAbsent() {
		return nil
	}
	if properties.Kind() != document.Map {
		r.add(at, "a map of schemas by name", describe(properties), "")
		return nil
	}
	fields := make([]fieldDraft, 0, properties.Len())
	for name, property := range properties.Fields() {
		fields = append(fields, fieldDraft{
			name:         name,
			value:        r.readRef(property, at.field(name), n.inside()),
			defaultValue: property.Get("default"),
		})
	}
	return fields
}

func (r *reader) readList(v document.Value, at *location, n nesting) *listDraft {
	list := &listDraft{at: at, item: ref{to: opaqueDraft, at: at}}
	list.associative, list.keys = r.listRelationship(v, at)
	if items := nonNull(v, "items"); !items.IsAbsent() {
		list.item = r.readRef(items, at.field("items"), n.inside())
	}
	return list
}

// checkItems reports an array without a schema for its items.
func (r *reader) checkItems(v document.Value, at *location) {
	if nonNull(v, "items").IsAbsent() {
		r.add(at, "the schema of the items of an array", "no items", "write items: {} to accept anything")
	}
}
