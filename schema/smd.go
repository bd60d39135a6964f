package schema

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// LoadTypes loads the types of a schema in the language of structured-merge-diff,
// which is what client-go's apply configurations carry for the built-in kinds:
//
//	types:
//	- name: example
//	  map:
//	    fields:
//	    - name: ports
//	      type:
//	        list:
//	          elementType: {namedType: port}
//	          elementRelationship: associative
//	          keys: [number]
//
// The language does not say which types are kinds, so they are found by name only.
// The names __untyped_deduced_ and __untyped_atomic_ mean [Untyped] and [Opaque]
// where the document does not declare them.
func LoadTypes(doc document.Value) (*Schema, error) {
	if doc.Kind() != document.Map {
		return nil, &Error{Expected: "a map with a list of types", Received: describe(doc)}
	}
	types := doc.Get("types")
	if types.Kind() != document.List {
		return nil, &Error{Place: "types", Expected: "a list of types", Received: describe(types)}
	}
	r := typesReader{newReader()}
	r.declareTypes(types, rootPlace("types"))
	s := r.link(nil)
	if err := r.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// typesReader reads the language of structured-merge-diff as drafts. An atom is
// the description of a type; a type reference is a name or an atom in place.
type typesReader struct{ *reader }

func (r *typesReader) declareTypes(types document.Value, at *place) {
	r.definitions["__untyped_deduced_"] = untypedDraft
	r.definitions["__untyped_atomic_"] = opaqueDraft
	drafts := make([]*draft, types.Len())
	declared := map[string]bool{}
	for i, v := range types.Items() {
		name := v.Get("name")
		drafts[i] = &draft{name: name.Text()}
		switch {
		case name.Kind() != document.String || name.Text() == "":
			r.add(at.index(i).field("name"), "the name of the type", describe(name), "")
		case declared[name.Text()]:
			r.add(at.index(i).field("name"), "each type once", quote(name.Text())+" again", "remove or rename one")
		}
		declared[name.Text()] = true
		r.definitions[name.Text()] = drafts[i]
	}
	for i, v := range types.Items() {
		at := at.index(i)
		if name := drafts[i].name; name != "" {
			at = rootPlace("types").field(name)
		}
		r.readAtom(drafts[i], v, at, 0)
	}
}

// readAtom fills a draft with the alternatives that an atom has.
func (r *typesReader) readAtom(d *draft, v document.Value, at *place, depth int) {
	if !r.enter(v, at, nesting{depth: depth}) {
		d.scalar = AnyScalar
		return
	}
	d.scalar = r.readScalar(given(v, "scalar"), at.field("scalar"))
	if list := given(v, "list"); !list.IsAbsent() {
		d.list = r.readListAtom(list, at.field("list"), depth+1)
	}
	if fields := given(v, "map"); !fields.IsAbsent() {
		d.fields = r.readMapAtom(fields, at.field("map"), depth+1)
	}
	if d.scalar == NoScalar && d.list == nil && d.fields == nil {
		r.add(at, "scalar, list or map", "none of them", "a type that accepts nothing is of no use")
	}
}

func (r *typesReader) readScalar(v document.Value, at *place) Scalar {
	switch {
	case v.IsAbsent():
		return NoScalar
	case v.Text() == "numeric":
		return Numeric
	case v.Text() == "string":
		return String
	case v.Text() == "boolean":
		return Boolean
	case v.Text() != "untyped":
		r.add(at, "numeric, string, boolean or untyped", describe(v), "")
	}
	return AnyScalar
}

func (r *typesReader) readListAtom(v document.Value, at *place, depth int) *listDraft {
	o := r.relationship(v, at, toAtomic, toAssociative)
	if o == asDeclared {
		r.add(at, "elementRelationship: atomic or associative", "neither", "every list states its relationship")
	}
	list := &listDraft{at: at, associative: o == toAssociative}
	if keys := given(v, "keys"); !keys.IsAbsent() {
		list.keys = r.texts(keys, at.field("keys"))
	}
	list.item = r.reference(given(v, "elementType"), at.field("elementType"), depth)
	return list
}

func (r *typesReader) readMapAtom(v document.Value, at *place, depth int) *mapDraft {
	m := &mapDraft{
		atomic: r.relationship(v, at, toGranular, toAtomic) == toAtomic,
		fields: r.readFieldAtoms(given(v, "fields"), at.field("fields"), depth),
	}
	element := given(v, "elementType")
	refused := element.IsAbsent() || element.Kind() == document.Map && element.Len() == 0
	if !refused {
		m.element = r.reference(element, at.field("elementType"), depth)
	}
	return m
}

func (r *typesReader) readFieldAtoms(v document.Value, at *place, depth int) []fieldDraft {
	if !v.IsAbsent() && v.Kind() != document.List {
		r.add(at, "a list of fields", describe(v), "")
	}
	fields := make([]fieldDraft, 0, v.Len())
	declared := make(map[string]bool, v.Len())
	for i, item := range v.Items() {
		name := item.Get("name")
		switch {
		case name.Kind() != document.String:
			r.add(at.index(i).field("name"), "the name of the field", describe(name), "")
		case declared[name.Text()]:
			r.add(at.index(i).field("name"), "each field once", quote(name.Text())+" again", "remove one")
		}
		declared[name.Text()] = true
		fields = append(fields, fieldDraft{
			name:     name.Text(),
			value:    r.reference(given(item, "type"), at.field(name.Text()).field("type"), depth),
			fallback: item.Get("default"),
		})
	}
	return fields
}

// reference reads a type reference.
func (r *typesReader) reference(v document.Value, at *place, depth int) ref {
	to := ref{to: opaqueDraft, at: at, override: r.relationship(v, at, toAtomic, toGranular, toAssociative)}
	named := given(v, "namedType")
	if named.IsAbsent() {
		to.to = &draft{}
		r.readAtom(to.to, v, at, depth)
		return to
	}
	for _, atom := range []string{"scalar", "list", "map"} {
		if !given(v, atom).IsAbsent() {
			r.add(at, "either namedType or a type in place", "namedType and "+atom, "remove one of them")
		}
	}
	d, ok := r.definitions[named.Text()]
	switch {
	case named.Kind() != document.String:
		r.add(at.field("namedType"), "the name of a type", describe(named), "")
	case !ok:
		r.add(at.field("namedType"), "a type of this schema", quote(named.Text()), "declare the type, or correct the name")
	default:
		to.to = d
	}
	return to
}

// relationship reads elementRelationship, which may be one of the given: of a list
// or map the relationship, of a reference the override.
func (r *typesReader) relationship(v document.Value, at *place, allowed ...override) override {
	const field = "elementRelationship"
	word := given(v, field)
	if word.IsAbsent() || word.Kind() == document.String && word.Text() == "" {
		return asDeclared
	}
	words := make([]string, len(allowed))
	for i, o := range allowed {
		words[i] = relationshipWords[o]
		if word.Text() == words[i] {
			return o
		}
	}
	r.add(at.field(field), strings.Join(words, " or "), describe(word), "")
	return allowed[0]
}

// relationshipWords are the names that the language has for relationships.
var relationshipWords = [...]string{toAtomic: "atomic", toGranular: "separable", toAssociative: "associative"}
