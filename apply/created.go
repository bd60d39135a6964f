package apply

import (
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// retainCreatedFields returns the intent of a configuration without the unset markers at fields that the server sets when it creates the
// object, such as the generated selector of a Job, or its completions, whose default depends on another defaulted field. Like a
// field with a default, such a field keeps its live value, so that applying the configuration that created the object is a no-op.
// The applier owns the field in either case.
//
// self is the identity of the applier's entry, and before is the live document.
func (e *Engine) retainCreatedFields(before versioned, in intent, managed *managedFields, self Entry) (intent, error) {
	if in.unset.IsEmpty() || e.options.Created == nil {
		return in, nil
	}
	paths := pathsOf(before.t, before.doc)
	missing := paths.Intersection(in.unset)
	if !missing.IsEmpty() && e.options.Default != nil {
		missing = missing.Difference(pathsOf(before.t, e.options.Default(in.merged)))
	}
	if missing.IsEmpty() {
		return in, nil
	}
	owned, err := e.withOwnedFields(versioned{in.merged, before.t, before.version}, in, managed, self)
	if err != nil {
		return in, err
	}
	created := versioned{e.options.Created(owned), before.t, before.version}
	var kept []fieldset.Path
	for path := range missing.All() {
		if v := valueAt(created, path); !v.IsAbsent() && document.Equal(v, valueAt(before, path)) {
			kept = append(kept, slices.Clone(path))
		}
	}
	if len(kept) == 0 {
		return in, nil
	}
	keep := fieldset.New(kept...)
	values := removeFields(before.t, before.doc, paths.Difference(withNamedParents(paths.Covered(keep), before.t)))
	var m merger
	in.merged = m.merge(before.t, in.merged, values)
	in.unset = in.unset.Difference(keep)
	return in, nil
}

// withOwnedFields returns the merged document without the fields that no field manager owns, which defaulting, admission or the server
// have set. It contains the untracked fields.
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
		keep = keep.Union(withNamedParents(set, merged.t))
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

// valueAt returns the value at a path, absent if there is none.
func valueAt(v versioned, p fieldset.Path) document.Value {
	t, doc := v.t, v.doc
	for _, e := range p {
		if t == nil {
			t = schema.Untyped
		}
		doc = childOf(doc, selectInSetOrder(nil, t, doc, fieldset.New(fieldset.Path{e})), e, 0)
		t, _ = childType(t, e)
	}
	return doc
}
