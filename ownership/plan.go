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
func Compare(before, after apply.Object, manager Selector, t *schema.Type) (Plan, error) {
	var p Plan
	var err error
	if p.Changes, err = compareValues(before, after, t); err != nil {
		return p, err
	}
	ownedBefore, err := union(before, manager.Selects)
	if err != nil {
		return p, err
	}
	owned, err := union(after, manager.Selects)
	if err != nil {
		return p, err
	}
	others, err := union(after, func(e apply.Entry) bool { return !manager.Selects(e) })
	if err != nil {
		return p, err
	}
	gained := owned.Difference(ownedBefore)
	p.Shared = gained.Intersection(others)
	p.Gained = gained.Difference(p.Shared)
	p.Released = ownedBefore.Difference(owned)
	if p.Lost, err = lostFields(before, after, manager); err != nil {
		return p, err
	}
	released := p.Released
	for _, m := range p.Lost {
		released = released.Union(m.Fields.Difference(owned))
	}
	p.Kept, err = keptFields(after, released, owned)
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
		Added: all.Added.Difference(untrackedFields), Modified: all.Modified.Difference(untrackedFields), Removed: all.Removed.Difference(untrackedFields),
	}, nil
}

// union returns all that some entries own.
func union(o apply.Object, selects func(apply.Entry) bool) (fieldset.Set, error) {
	var all fieldset.Set
	for i, e := range o.Entries {
		if !selects(e) {
			continue
		}
		set, err := decodeFields(o.Entries, i)
		if err != nil {
			return all, err
		}
		all = all.Union(set)
	}
	return all, nil
}

// lostFields returns what each entry of others has no more.
func lostFields(before, after apply.Object, manager Selector) ([]Move, error) {
	var moves []Move
	for i, e := range before.Entries {
		if manager.Selects(e) {
			continue
		}
		previous, err := decodeFields(before.Entries, i)
		if err != nil {
			return nil, err
		}
		now, err := union(after, func(other apply.Entry) bool {
			return other.Manager == e.Manager && other.Operation == e.Operation && other.APIVersion == e.APIVersion && other.Subresource == e.Subresource
		})
		if err != nil {
			return nil, err
		}
		if missing := previous.Difference(now); !missing.IsEmpty() {
			moves = append(moves, Move{From: e, Fields: missing})
		}
	}
	return moves, nil
}

// keptFields returns which of some fields an object has, the innermost ones, but for what is in a manager's own, or has some
// of it: at another version the same field may be known by a longer path, or by a shorter one. The annotation of
// client-side apply is left out where it has its keeper: nobody configures it.
func keptFields(o apply.Object, released, owned fieldset.Set) ([]KeptField, error) {
	sets, err := decodeAll(o.Entries)
	if err != nil {
		return nil, err
	}
	var kept []KeptField
	leaves := owned.Leaves()
	for path := range existingFields(o.Document, released.Leaves()).All() {
		if !owned.At(path).IsEmpty() || !fieldset.New(path).Covered(leaves).IsEmpty() {
			continue
		}
		owners := ownersAt(o.Entries, sets, path)
		if slices.ContainsFunc(owners, func(e apply.Entry) bool { return e.Manager == LastAppliedManager }) {
			continue
		}
		kept = append(kept, KeptField{Path: slices.Clone(path), Value: ValueAt(o.Document, path), Owners: owners})
	}
	return kept, nil
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
