package schema

import "github.com/cadastre/cadastre/document"

// A draft is a type as a schema declares it: what it refers to may be declared
// later, be the draft itself, or be overridden at the place of the reference. The
// readers (OpenAPI, CRD, Go types, types text) know a syntax and make drafts; the
// linker knows the meaning and makes Types of them.
//
// A draft is an alias of another, or has at least one of scalar, list and fields.
type draft struct {
	name  string
	alias *ref
	// linked is the Type of a draft that was linked before, by another load.
	linked *Type
	scalar Scalar
	list   *listDraft
	fields *mapDraft
}

type listDraft struct {
	at *place
	// associative lists are sets without keys and keyed lists with them. The keys
	// of an atomic list matter only once a reference overrides it.
	associative bool
	keys        []string
	item        ref
}

type mapDraft struct {
	atomic bool
	fields []fieldDraft
	// element.to is nil when undeclared fields are refused.
	element ref
}

type fieldDraft struct {
	name  string
	value ref
	// fallback is the default; null and absent both mean that there is none.
	fallback document.Value
}

// ref is one mention of a draft, by name or in place.
type ref struct {
	to       *draft
	override override
	at       *place
}

// override is what a reference says about the relationship inside the map or the
// list that it refers to, against what the type itself says.
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

// wellKnown returns Untyped or Opaque for the drafts that spell one of them, so
// that "anything goes here" is one pointer however a schema says it.
func (d *draft) wellKnown() *Type {
	switch {
	case d.spellsOpaque():
		return Opaque
	case d.acceptsAnything() && !d.fields.atomic && d.list.item.to.spellsOpaque():
		if e := d.fields.element.to; e == d || e.spellsUntypedItself() {
			return Untyped
		}
	}
	return nil
}

// spellsOpaque reports whether d is atomic and made of nothing but itself.
func (d *draft) spellsOpaque() bool {
	return d.acceptsAnything() && d.fields.atomic && d.list.item.to == d && d.fields.element.to == d
}

func (d *draft) spellsUntypedItself() bool {
	return d.acceptsAnything() && !d.fields.atomic &&
		d.list.item.to.spellsOpaque() && d.fields.element.to == d
}

// acceptsAnything reports whether d takes a value of any shape, and declares no
// field and no relationship between items.
func (d *draft) acceptsAnything() bool {
	return d.alias == nil && d.scalar == AnyScalar &&
		d.list != nil && !d.list.associative && len(d.list.keys) == 0 && d.list.item.plain() &&
		d.fields != nil && len(d.fields.fields) == 0 && d.fields.element.plain()
}

func (r ref) plain() bool { return r.to != nil && r.override == asDeclared }
