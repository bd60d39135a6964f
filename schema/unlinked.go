package schema

import "github.com/cadastre/cadastre/document"

// draft is a type as a schema declares it: a type that it refers to may be declared later, be the draft itself, or be
// overridden by the reference. The readers (OpenAPI, CRD, Go types, structured-merge-diff) parse a syntax and produce
// drafts; the linker converts them to Types.
//
// A draft is an alias of another, or has at least one of scalar, list and fields.
type draft struct {
	name  string
	alias *ref
	// linked is the Type of a draft that another load has linked before.
	linked *Type
	scalar Scalar
	list   *listDraft
	fields *mapDraft
}

type listDraft struct {
	at *location
	// associative lists are sets without keys and keyed lists with them. The keys of an atomic list take effect only if
	// a reference overrides its relationship.
	associative bool
	keys        []string
	item        ref
}

type mapDraft struct {
	atomic bool
	fields []fieldDraft
	// element.to is nil if undeclared fields are rejected.
	element ref
}

type fieldDraft struct {
	name  string
	value ref
	// defaultValue is the default; null and absent both mean that there is none.
	defaultValue document.Value
}

// ref is one reference to a draft, by name or inline.
type ref struct {
	to       *draft
	override override
	at       *location
}

// override is the relationship that a reference declares for the map or list that it refers to, instead of the type's
// own.
type override uint8

const (
	asDeclared override = iota
	toAtomic
	toGranular
	toAssociative
)

// untypedDraft and opaqueDraft are the drafts of Untyped and Opaque.
var untypedDraft, opaqueDraft = func() (untyped, opaque *draft) {
	opaque = &draft{name: Opaque.Name, scalar: AnyScalar}
	opaque.list = &listDraft{item: ref{to: opaque}}
	opaque.fields = &mapDraft{atomic: true, element: ref{to: opaque}}

	untyped = &draft{name: Untyped.Name, scalar: AnyScalar}
	untyped.list = &listDraft{item: ref{to: opaque}}
	untyped.fields = &mapDraft{element: ref{to: untyped}}
	return untyped, opaque
}()

// wellKnown returns Untyped or Opaque for drafts that are equivalent to one of them, so that each is one pointer for
// every spelling in a schema; otherwise nil.
func (d *draft) wellKnown() *Type {
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

// isOpaque reports whether d is atomic and its items and elements are d itself.
func (d *draft) isOpaque() bool {
	return d.acceptsAnything() && d.fields.atomic && d.list.item.to == d && d.fields.element.to == d
}

func (d *draft) isUntyped() bool {
	return d.acceptsAnything() && !d.fields.atomic &&
		d.list.item.to.isOpaque() && d.fields.element.to == d
}

// acceptsAnything reports whether d accepts values of any shape, and declares no fields and no relationship between
// items.
func (d *draft) acceptsAnything() bool {
	return d.alias == nil && d.scalar == AnyScalar &&
		d.list != nil && !d.list.associative && len(d.list.keys) == 0 && d.list.item.plain() &&
		d.fields != nil && len(d.fields.fields) == 0 && d.fields.element.plain()
}

func (r ref) plain() bool { return r.to != nil && r.override == asDeclared }
