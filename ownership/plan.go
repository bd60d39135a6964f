package ownership

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Plan is the effect of a write on an object, for the manager that writes.
type Plan struct {
	// Changes are the changed values, without fields that the server maintains.
	Changes apply.Changes
	// Gained are the fields that the manager comes to own alone, Shared those that it comes to own together with
	// others, and Released those that it no longer owns.
	Gained, Shared, Released fieldset.Set
	// Lost are the fields that other managers no longer own.
	Lost []Move
	// Kept are the fields that the manager no longer owns and that keep their value, including those that it takes
	// over and releases in the same write.
	Kept []KeptField
}

// KeptField is a field that keeps its value although a manager released it.
type KeptField struct {
	Path  fieldset.Path
	Value document.Value
	// Owners are the entries that own it. It is empty if the server sets the field or its default.
	Owners []apply.Entry
}

// IsEmpty reports whether neither values nor owners change.
func (p Plan) IsEmpty() bool {
	return p.Changes.IsEmpty() && p.Gained.IsEmpty() && p.Shared.IsEmpty() && p.Released.IsEmpty() && len(p.Lost) == 0
}

// Compare returns the effect of a write of a manager, from the object before, which is the zero Object if it did not
// exist, and after. Both are at the same version; its schema may be nil, see [Blame].
func Compare(before, after apply.Object, who Selector, t *schema.Type) (Plan, error) {
	var p Plan
	var err error
	if p.Changes, err = compareValues(before, after, t); err != nil {
		return p, err
	}
	mineBefore, err := union(before, who.Selects)
	if err != nil {
		return p, err
	}
	mine, err := union(after, who.Selects)
	if err != nil {
		return p, err
	}
	others, err := union(after, func(e apply.Entry) bool { return !who.Selects(e) })
	if err != nil {
		return p, err
	}
	gained := mine.Difference(mineBefore)
	p.Shared = gained.Intersection(others)
	p.Gained = gained.Difference(p.Shared)
	p.Released = mineBefore.Difference(mine)
	if p.Lost, err = lost(before, after, who); err != nil {
		return p, err
	}
	given := p.Released
	for _, m := range p.Lost {
		given = given.Union(m.Fields.Difference(mine))
	}
	p.Kept, err = staying(after, given, mine)
	return p, err
}

// compareValues has an engine compare the documents, as it does for every update.
func compareValues(before, after apply.Object, t *schema.Type) (apply.Changes, error) {
	if t == nil {
		t = schema.Untyped
	}
	version := after.Document.Get("apiVersion").Text()
	if was := before.Document.Get("apiVersion"); !was.IsAbsent() && was.Text() != version {
		return apply.Changes{}, fmt.Errorf("compare: expected an object at one version before and after, received %s and %s", was.Text(), version)
	}
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion(version, t)})
	if err != nil {
		return apply.Changes{}, err
	}
	result, err := engine.Update(apply.Object{Document: before.Document}, after.Document, apply.Request{Manager: "compare", Version: version})
	if err != nil {
		return apply.Changes{}, err
	}
	all := result.Changes()
	return apply.Changes{
		Added: all.Added.Difference(fixed), Modified: all.Modified.Difference(fixed), Removed: all.Removed.Difference(fixed),
	}, nil
}

// union returns all that some entries own.
func union(o apply.Object, selects func(apply.Entry) bool) (fieldset.Set, error) {
	var all fieldset.Set
	for i, e := range o.Entries {
		if !selects(e) {
			continue
		}
		set, err := fieldsOf(o.Entries, i)
		if err != nil {
			return all, err
		}
		all = all.Union(set)
	}
	return all, nil
}

// lost returns what each entry of others has no more.
func lost(before, after apply.Object, who Selector) ([]Move, error) {
	var moves []Move
	for i, e := range before.Entries {
		if who.Selects(e) {
			continue
		}
		was, err := fieldsOf(before.Entries, i)
		if err != nil {
			return nil, err
		}
		is, err := union(after, func(other apply.Entry) bool {
			return other.Manager == e.Manager && other.Operation == e.Operation && other.APIVersion == e.APIVersion && other.Subresource == e.Subresource
		})
		if err != nil {
			return nil, err
		}
		if gone := was.Difference(is); !gone.IsEmpty() {
			moves = append(moves, Move{From: e, Fields: gone})
		}
	}
	return moves, nil
}

// staying returns which of some fields an object has, the innermost ones, but for what is in a manager's own, or has some
// of it: at another version the same field may be known by a longer path, or by a shorter one. The annotation of
// client-side apply is left out where it has its keeper: nobody configures it.
func staying(o apply.Object, given, mine fieldset.Set) ([]KeptField, error) {
	sets, err := setsOf(o.Entries)
	if err != nil {
		return nil, err
	}
	var stays []KeptField
	own := mine.Leaves()
	for path := range present(o.Document, given.Leaves()).All() {
		if !mine.At(path).IsEmpty() || !fieldset.New(path).Covered(own).IsEmpty() {
			continue
		}
		owners := ownersAt(o.Entries, sets, path)
		if slices.ContainsFunc(owners, func(e apply.Entry) bool { return e.Manager == LastAppliedManager }) {
			continue
		}
		stays = append(stays, KeptField{Path: slices.Clone(path), Value: ValueAt(o.Document, path), Owners: owners})
	}
	return stays, nil
}

// ownersAt are who owns a field, or something in it.
func ownersAt(entries []apply.Entry, sets []fieldset.Set, path fieldset.Path) []apply.Entry {
	var owners []apply.Entry
	for i, set := range sets {
		if set.Has(path) || !set.At(path).IsEmpty() {
			owners = append(owners, entries[i])
		}
	}
	return owners
}
