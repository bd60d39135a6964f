package schema

import "github.com/cadastre/cadastre/document"

// reader reads OpenAPI schema objects, of OpenAPI documents and of CRDs, as drafts.
//
// Its methods go together like this:
//
//	mention     a property, an item, an additional property: a $ref, or in place
//	  read        one schema object, by its type
//	    readMap     properties, additionalProperties, x-kubernetes-map-type
//	    readList    items, x-kubernetes-list-type, patch strategies
//
// A reader never stops at a problem: it notes it, and goes on as if the place were
// untyped.
type reader struct {
	problems
	definitions map[string]*draft
	// preserve is where every type starts: undeclared fields are kept.
	preserve bool
	// custom is set for the schema of a CRD, which is structural.
	custom bool
	// objects counts what was read so far.
	objects int
}

// given returns the named field. Null is as good as absent: that is how the Go
// types of Kubernetes read a schema.
func given(v document.Value, name string) document.Value {
	if field := v.Get(name); field.Kind() != document.Null {
		return field
	}
	return document.Value{}
}

func newReader() *reader { return &reader{definitions: map[string]*draft{}} }

// Limits on what a schema may be. They are far beyond any schema in use, and far
// below what would hurt.
const maxNesting = 1_000

var maxObjects = 2 << 20 // a variable for tests only

// nesting is what a schema object inherits from those around it.
type nesting struct {
	// depth is how many objects are around.
	depth int
	// preserve says that undeclared fields are kept. It holds inside the object
	// that says so, but not behind references.
	preserve bool
	// root says that this is the object of a CRD's kind itself.
	root bool
}

func (n nesting) inside() nesting { return nesting{depth: n.depth + 1, preserve: n.preserve} }

// mention reads a schema object that may be a reference. The single-element allOf
// is how OpenAPI 3 lets a reference have siblings, such as a default.
func (r *reader) mention(v document.Value, at *place, n nesting) ref {
	reference := given(v, "$ref")
	if all := v.Get("allOf"); reference.Text() == "" && all.Kind() == document.List && all.Len() == 1 {
		reference = given(all.At(0), "$ref")
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

// read reads a schema object that is no reference.
func (r *reader) read(v document.Value, at *place, n nesting) *draft {
	if !r.enter(v, at, n) {
		return untypedDraft
	}
	n.preserve = n.preserve || r.preserves(v, at)
	d := &draft{}
	switch word := r.typeWord(v, at); word {
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

// enter reports whether v can be read at all.
func (r *reader) enter(v document.Value, at *place, n nesting) bool {
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

// typeWord returns the type of a schema object, or "" if it has none. Where a list
// of types is allowed the first counts; null counts for nothing, because every
// place accepts it.
func (r *reader) typeWord(v document.Value, at *place) string {
	t := given(v, "type")
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

// stringScalar returns what a string of some format accepts. A format may mean
// that the JSON is no string: int-or-string, and what later versions add.
func stringScalar(format string) Scalar {
	if format == "" || format == "byte" {
		return String
	}
	return AnyScalar
}

func (r *reader) readMap(v document.Value, at *place, n nesting) *mapDraft {
	m := &mapDraft{atomic: r.mapOverride(v, at) == toAtomic, fields: r.readFields(v, at, n)}
	if r.custom && (n.root || r.flag(v, at, "x-kubernetes-embedded-resource")) {
		m.fields = r.asResource(m.fields)
	}
	more := given(v, "additionalProperties")
	at = at.field("additionalProperties")
	switch {
	case more.IsAbsent():
		// Without any properties this is a free-form object.
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
		m.element = r.mention(more, at, n.inside())
	}
	return m
}

func (r *reader) readFields(v document.Value, at *place, n nesting) []fieldDraft {
	properties := given(v, "properties")
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
			name:     name,
			value:    r.mention(property, at.field(name), n.inside()),
			fallback: property.Get("default"),
		})
	}
	return fields
}

func (r *reader) readList(v document.Value, at *place, n nesting) *listDraft {
	list := &listDraft{at: at, item: ref{to: opaqueDraft, at: at}}
	list.associative, list.keys = r.listRelationship(v, at)
	if items := given(v, "items"); !items.IsAbsent() {
		list.item = r.mention(items, at.field("items"), n.inside())
	}
	return list
}

// checkItems reports an array that does not say what is in it.
func (r *reader) checkItems(v document.Value, at *place) {
	if given(v, "items").IsAbsent() {
		r.add(at, "the schema of the items of an array", "no items", "write items: {} to accept anything")
	}
}
