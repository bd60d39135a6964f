package schema

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// LoadTypes loads the types of a schema in the language of structured-merge-diff. client-go's apply configurations
// contain the schema of the built-in kinds in this language:
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
// The language does not declare kinds, so Schema.Kind finds none of these types. The names __untyped_deduced_ and
// __untyped_atomic_ mean [Untyped] and [Opaque] unless the document declares types with these names.
func LoadTypes(doc document.Value) (*Schema, error) {
	if doc.Kind() != document.Map {
		return nil, &Error{Expected: "a map with a list of types", Received: describe(doc)}
	}
	types := doc.Get("types")
	if types.Kind() != document.List {
		return nil, &Error{Path: "types", Expected: "a list of types", Received: describe(types)}
	}
	r := typesReader{newReader()}
	r.declareTypes(types, rootLocation("types"))
	s := r.link(nil)
	if err := r.err(); err != nil {
		return nil, err
	}
	return s, nil
}

// typesReader converts types in the language of structured-merge-diff to unlinkedTypes. In that language, an atom is
// the description of a type, and a type reference is a name or an inline atom.
type typesReader struct{ *reader }

func (r *typesReader) declareTypes(types document.Value, at *location) {
	r.definitions["__untyped_deduced_"] = unlinkedUntyped
	r.definitions["__untyped_atomic_"] = unlinkedOpaque
	unlinkedTypes := make([]*unlinkedType, types.Len())
	declared := map[string]bool{}
	for i, v := range types.Items() {
		name := v.Get("name")
		unlinkedTypes[i] = &unlinkedType{name: name.Text()}
		switch {
		case name.Kind() != document.String || name.Text() == "":
			r.add(at.index(i).field("name"), "the name of the type", describe(name), "")
		case declared[name.Text()]:
			r.add(at.index(i).field("name"), "each type once", quote(name.Text())+" again", "remove or rename one")
		}
		declared[name.Text()] = true
		r.definitions[name.Text()] = unlinkedTypes[i]
	}
	for i, v := range types.Items() {
		at := at.index(i)
		if name := unlinkedTypes[i].name; name != "" {
			at = rootLocation("types").field(name)
		}
		r.readAtom(unlinkedTypes[i], v, at, 0)
	}
}

// readAtom sets the alternatives of d from an atom.
func (r *typesReader) readAtom(d *unlinkedType, v document.Value, at *location, depth int) {
	if !r.checkLimits(v, at, nesting{depth: depth}) {
		d.scalar = AnyScalar
		return
	}
	d.scalar = r.readScalar(nonNull(v, "scalar"), at.field("scalar"))
	if list := nonNull(v, "list"); !list.IsAbsent() {
		d.list = r.readListAtom(list, at.field("list"), depth+1)
	}
	if fields := nonNull(v, "map"); !fields.IsAbsent() {
		d.fields = r.readMapAtom(fields, at.field("map"), depth+1)
	}
	if d.scalar == NoScalar && d.list == nil && d.fields == nil {
		r.add(at, "scalar, list or map", "none of them", "declare at least one")
	}
}

func (r *typesReader) readScalar(v document.Value, at *location) Scalar {
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

func (r *typesReader) readListAtom(v document.Value, at *location, depth int) *unlinkedList {
	o := r.readRelationship(v, at, toAtomic, toAssociative)
	if o == asDeclared {
		r.add(at, "elementRelationship: atomic or associative", "neither", "declare the relationship of the list")
	}
	list := &unlinkedList{at: at, associative: o == toAssociative}
	if keys := nonNull(v, "keys"); !keys.IsAbsent() {
		list.keys = r.readStringList(keys, at.field("keys"))
	}
	list.item = r.readReference(nonNull(v, "elementType"), at.field("elementType"), depth)
	return list
}

func (r *typesReader) readMapAtom(v document.Value, at *location, depth int) *unlinkedMap {
	m := &unlinkedMap{
		atomic: r.readRelationship(v, at, toGranular, toAtomic) == toAtomic,
		fields: r.readFieldAtoms(nonNull(v, "fields"), at.field("fields"), depth),
	}
	element := nonNull(v, "elementType")
	rejected := element.IsAbsent() || element.Kind() == document.Map && element.Len() == 0
	if !rejected {
		m.element = r.readReference(element, at.field("elementType"), depth)
	}
	return m
}

func (r *typesReader) readFieldAtoms(v document.Value, at *location, depth int) []unlinkedField {
	if !v.IsAbsent() && v.Kind() != document.List {
		r.add(at, "a list of fields", describe(v), "")
	}
	fields := make([]unlinkedField, 0, v.Len())
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
		fields = append(fields, unlinkedField{
			name:         name.Text(),
			value:        r.readReference(nonNull(item, "type"), at.field(name.Text()).field("type"), depth),
			defaultValue: item.Get("default"),
		})
	}
	return fields
}

// readReference reads a type reference: the name of a type or an inline atom, with an optional override.
func (r *typesReader) readReference(v document.Value, at *location, depth int) ref {
	to := ref{to: unlinkedOpaque, at: at, override: r.readRelationship(v, at, toAtomic, toGranular, toAssociative)}
	named := nonNull(v, "namedType")
	if named.IsAbsent() {
		to.to = &unlinkedType{}
		r.readAtom(to.to, v, at, depth)
		return to
	}
	for _, atom := range []string{"scalar", "list", "map"} {
		if !nonNull(v, atom).IsAbsent() {
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

// readRelationship reads elementRelationship, which is the relationship of a list or map, or the override of a
// reference. It adds a problem for a value that is not in allowed.
func (r *typesReader) readRelationship(v document.Value, at *location, allowed ...override) override {
	const field = "elementRelationship"
	word := nonNull(v, field)
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

// relationshipWords are the spellings of relationships in elementRelationship.
var relationshipWords = [...]string{toAtomic: "atomic", toGranular: "separable", toAssociative: "associative"}
