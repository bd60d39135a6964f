package schema

import "github.com/cadastre/cadastre/document"

// unlinkedType is a type as a schema declares it: a type that it refers to may be declared later, may be the type
// itself, or may be overridden by the reference. The readers (OpenAPI, CRD, Go types, structured-merge-diff) parse a
// syntax and produce unlinkedTypes; the linker converts them to Types.
//
// An unlinkedType is either an alias of another unlinkedType, or has at least one of the alternatives scalar, list
// and fields.
type unlinkedType struct {
	name  string
	alias *ref
	// linked is the finished Type if an earlier load has already linked it, as for the metadata of CRDs. It is nil for
	// all other types.
	linked *Type
	scalar Scalar
	list   *unlinkedList
	fields *unlinkedMap
}

// unlinkedList is the list alternative of an unlinkedType.
type unlinkedList struct {
	at *location
	// associative means that items are owned individually: the list is keyed if it has keys, otherwise a set. The keys
	// of an atomic list take effect only if a reference overrides its relationship.
	associative bool
	keys        []string
	item        ref
}

// unlinkedMap is the map alternative of an unlinkedType.
type unlinkedMap struct {
	atomic bool
	fields []unlinkedField
	// element refers to the type of undeclared fields; element.to is nil if undeclared fields are rejected.
	element ref
}

// unlinkedField is a declared field of an unlinkedMap.
type unlinkedField struct {
	name  string
	value ref
	// defaultValue is the declared default of the field; null and absent both mean that there is none.
	defaultValue document.Value
}

// ref is one reference to an unlinkedType, by name or inline.
type ref struct {
	to       *unlinkedType
	override override
	at       *location
}

// override is the relationship that a reference declares for the map or list that it refers to. It replaces the
// relationship that the type itself declares.
type override uint8

const (
	asDeclared override = iota
	toAtomic
	toGranular
	toAssociative
)

// unlinkedUntyped and unlinkedOpaque are the unlinked forms of Untyped and Opaque.
var unlinkedUntyped, unlinkedOpaque = func() (untyped, opaque *unlinkedType) {
	opaque = &unlinkedType{name: Opaque.Name, scalar: AnyScalar}
	opaque.list = &unlinkedList{item: ref{to: opaque}}
	opaque.fields = &unlinkedMap{atomic: true, element: ref{to: opaque}}

	untyped = &unlinkedType{name: Untyped.Name, scalar: AnyScalar}
	untyped.list = &unlinkedList{item: ref{to: opaque}}
	untyped.fields = &unlinkedMap{element: ref{to: untyped}}
	return untyped, opaque
}()

// wellKnown returns Untyped or Opaque if the type is equivalent to it, and nil for all other types. Callers can
// therefore compare Types with Untyped and Opaque by pointer, independently of how the schema declares them.
func (d *unlinkedType) wellKnown() *Type {
	switch {
	case d.isOpaque():
		return Opaque
	case d.acceptsAnything() && !d.fields.atomic && d.list.item.to.isOpaque():
		if e := d.fields.element.to; e == d || e.isUntyped() {
			return Untyped
		}
	}
	return nil
}

// isOpaque reports whether d is atomic, and d itself is the type of its items and of its undeclared fields.
func (d *unlinkedType) isOpaque() bool {
	return d.acceptsAnything() && d.fields.atomic && d.list.item.to == d && d.fields.element.to == d
}

func (d *unlinkedType) isUntyped() bool {
	return d.acceptsAnything() && !d.fields.atomic &&
		d.list.item.to.isOpaque() && d.fields.element.to == d
}

// acceptsAnything reports whether the type accepts scalars, lists and maps, and declares neither fields nor a
// relationship of list items.
func (d *unlinkedType) acceptsAnything() bool {
	return d.alias == nil && d.scalar == AnyScalar &&
		d.list != nil && !d.list.associative && len(d.list.keys) == 0 && d.list.item.isPlain() &&
		d.fields != nil && len(d.fields.fields) == 0 && d.fields.element.isPlain()
}

// isPlain reports whether r refers to a type without overriding the type's relationship.
func (r ref) isPlain() bool { return r.to != nil && r.override == asDeclared }
