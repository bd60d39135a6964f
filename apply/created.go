package apply

import (
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// retainCreatedFields returns the intent without those unset markers that would remove values that the server sets when it
// creates the object. Therefore applying the configuration that created the object is a no-op. Examples are the completions of
// a Job, whose default depends on a field that has got a default itself, its generated selector, and the resources of a
// container, which admission sets. Such a field keeps its live value, or remains absent although it would have a default now.
// The applier owns the field in either case.
//
// self is the identity of the applier's entry, and before is the live document.
func (e *Engine) retainCreatedFields(before versioned, in intent, managed *managedFields, self Entry, r Request) (intent, error) {
	if in.unset.IsEmpty() || before.doc.Len() == 0 {
		return in, nil
	}
	at := func(doc document.Value) versioned { return versioned{doc, before.t, before.version} }
	unset := in.unset.RecursiveDifference(e.options.Reset[before.version])
	differing, _ := splitEqual(before, at(e.withDefaults(in.merged)), unset)
	insides := unset.Difference(in.fields())
	if differing.IsEmpty() && insides.IsEmpty() {
		return in, nil
	}
	owned, err := e.withOwnedFields(at(in.merged), in, managed, self)
	if err != nil {
		return in, err
	}
	defaulted := e.withDefaults(owned)
	kept, err := e.createdFields(before, differing, owned, defaulted, managed, self, r)
	if err != nil {
		return in, err
	}
	in.fieldsV1 = e.withUnsetFields(before.t, in.fields(), kept.Union(insides), defaulted).FieldsV1()
	if kept.IsEmpty() {
		return in, nil
	}
	rest, _, err := splitMarkers(before.t, in.config, e.options.NoZeroKeys)
	if err != nil {
		return in, err
	}
	in.unset = in.unset.Difference(kept)
	var m merger
	in.merged = removeFields(before.t, m.merge(before.t, before.doc, rest), in.unset)
	return in, nil
}

// createdFields returns the subset of fields that would have their live values if the server created the object from the fields
// that have a field manager. These are owned or, with the defaults of the kind, defaulted.
func (e *Engine) createdFields(before versioned, fields fieldset.Set, owned, defaulted document.Value, managed *managedFields, self Entry, r Request) (fieldset.Set, error) {
	created := defaulted
	if r.Created != nil {
		created = r.Created(owned)
	}
	differing, kept := splitEqual(before, versioned{created, before.t, before.version}, fields)
	if r.Admitted == nil || differing.IsEmpty() {
		return kept, nil
	}
	previous, err := managed.previousFields(self)
	if err != nil {
		return kept, err
	}
	held := ownedAtOrBelow(differing, previous)
	if held.IsEmpty() {
		return kept, nil
	}
	_, admitted := splitEqual(before, versioned{r.Admitted(owned), before.t, before.version}, held)
	return kept.Union(admitted), nil
}

// withUnsetFields adds the given unset fields to the field set of an applier, as the apply that created the object did: the
// fields of the default if there is one, otherwise the field itself. defaulted contains the fields that have a field manager,
// with their defaults.
func (e *Engine) withUnsetFields(t *schema.Type, owned, unset fieldset.Set, defaulted document.Value) fieldset.Set {
	owned = owned.RecursiveDifference(unset)
	return owned.Union(unset.Difference(pathsOf(t, defaulted))).Union(fieldsOf(t, defaulted).Covered(unset))
}

// withDefaults returns a document with the defaults of the kind.
func (e *Engine) withDefaults(doc document.Value) document.Value {
	if e.options.Default == nil {
		return doc
	}
	return e.options.Default(doc)
}

// splitEqual splits a set of fields into those whose values in two documents of one type differ, and those whose values are equal or
// absent in both.
func splitEqual(a, b versioned, fields fieldset.Set) (differing, equal fieldset.Set) {
	var d differ
	differing = d.differing(a.t, a.doc, b.doc, fields)
	return differing, fields.Difference(differing)
}

// differ compares the values of fields in two documents, in one pass over the documents and the field set.
type differ struct{ sets fastset.Builder }

// differing returns the subset of fields whose values in a and b, values of type t, differ.
func (d *differ) differing(t *schema.Type, a, b document.Value, fields fieldset.Set) fieldset.Set {
	if t == nil {
		t = schema.Untyped
	}
	mark := d.sets.Mark()
	aItems, bItems := selectInSetOrder(nil, t, a, fields), selectInSetOrder(nil, t, b, fields)
	for i := range fields.Len() {
		e := fields.Element(i)
		aChild, bChild := childOf(a, aItems, e, i), childOf(b, bItems, e, i)
		var below fieldset.Set
		if rest := fields.Child(i); !rest.IsEmpty() {
			child, _ := childType(t, e)
			below = d.differing(child, aChild, bChild, rest)
		}
		d.sets.Push(e, fields.Member(i) && !document.Equal(aChild, bChild), below)
	}
	return d.sets.Set(mark)
}

// ownedAtOrBelow returns the subset of fields such that owned contains the field itself or a field inside of it.
func ownedAtOrBelow(fields, owned fieldset.Set) fieldset.Set {
	var held []fieldset.Path
	for path := range fields.All() {
		if owned.Has(path) || !owned.At(path).IsEmpty() {
			held = append(held, slices.Clone(path))
		}
	}
	return fieldset.New(held...)
}

// withFieldsOf returns the document to with the values that the document from has at or below the given fields.
func withFieldsOf(t *schema.Type, to, from document.Value, fields fieldset.Set) document.Value {
	paths := pathsOf(t, from)
	found := paths.Covered(fields)
	if found.IsEmpty() {
		return to
	}
	var m merger
	return m.merge(t, to, removeFields(t, from, paths.Difference(withNamedParents(found, t))))
}

// previousFields returns the fields that the applier owned before the apply at the version of the apply. self is the identity of
// its entry.
func (managed *managedFields) previousFields(self Entry) (fieldset.Set, error) {
	i := managed.find(self)
	if i < 0 || managed.list[i].entry.APIVersion != self.APIVersion {
		return fieldset.Set{}, nil
	}
	return managed.fields(i)
}

// withOwnedFields returns the merged document without the fields that no field manager owns, which defaulting, admission or the
// server have set. It contains the untracked fields, but no containers of which only absent fields are owned.
func (e *Engine) withOwnedFields(merged versioned, in intent, managed *managedFields, self Entry) (document.Value, error) {
	byVersion := map[string][]fieldset.Set{merged.version: {untrackedFields, in.fields()}}
	for i, m := range managed.list {
		if m.entry.sameManager(self) {
			continue
		}
		set, err := managed.fields(i)
		if err != nil {
			return document.Value{}, err
		}
		byVersion[m.entry.APIVersion] = append(byVersion[m.entry.APIVersion], set)
	}
	all := pathsOf(merged.t, merged.doc)
	var keep fieldset.Set
	for _, set := range byVersion[merged.version] {
		keep = keep.Union(withNamedParents(set.Intersection(all), merged.t))
	}
	rest := versioned{removeFields(merged.t, merged.doc, all.Difference(keep)), merged.t, merged.version}
	for _, version := range sortedVersions(byVersion) {
		if version == merged.version {
			continue
		}
		retained, err := e.retainedFieldsAt(version, merged, rest, byVersion[version])
		if err != nil {
			return document.Value{}, err
		}
		keep = keep.Union(retained)
	}
	return removeFields(merged.t, merged.doc, all.Difference(keep)), nil
}
