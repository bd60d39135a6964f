package ownership

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Plan is the effect of a write on an object and on its managedFields, from the point of view of the writing manager.
type Plan struct {
	// Changes are the changed values, without untracked fields.
	Changes apply.Changes
	// Gained are the fields that the manager newly owns as the only owner, Shared are the fields that it newly owns
	// with co-owners, and Released are the fields that it no longer owns.
	Gained, Shared, Released fieldset.Set
	// Lost are the fields that other managers no longer own, one Move per entry.
	Lost []Move
	// Kept are the fields that the manager released and that keep their value, including fields that it takes over
	// and releases in the same write.
	Kept []KeptField
}

// KeptField is a field that keeps its value although the manager released it.
type KeptField struct {
	Path  fieldset.Path
	Value document.Value
	// Owners are the entries that own the field or a field below it. It is empty if the server sets the field or its
	// default.
	Owners []apply.Entry
}

// IsEmpty reports whether neither values nor owners change. Kept fields alone are no change.
func (p Plan) IsEmpty() bool {
	return p.Changes.IsEmpty() && p.Gained.IsEmpty() && p.Shared.IsEmpty() && p.Released.IsEmpty() && len(p.Lost) == 0
}

// Compare returns the effect of a manager's write, given the object before the write, which is the zero Object if it
// did not exist, and after it. Both must be at the same version. The schema may be nil; see [Blame].
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

// compareValues compares the documents as [apply.Engine.Update] does.
func compareValues(before, after apply.Object, t *schema.Type) (apply.Changes, error) {
	if t == nil {
		t = schema.Untyped
	}
	version := after.Document.Get("apiVersion").Text()
	if beforeVersion := before.Document.Get("apiVersion"); !beforeVersion.IsAbsent() && beforeVersion.Text() != version {
		return apply.Changes{}, fmt.Errorf("compare: expected both objects at the same version, received %s and %s", beforeVersion.Text(), version)
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

// union returns the union of the field sets of the selected entries.
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

// lostFields returns the fields that entries of other managers no longer have.
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

// keptFields returns the released leaf fields that the object still has. A field is omitted if the manager owns a
// field below it, or a container of it, because at another version the same field may have a longer or shorter path.
// The last-applied annotation is omitted if LastAppliedManager owns it, because it is not part of any configuration.
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

// ownersAt returns the entries that own a field or a field below it.
func ownersAt(entries []apply.Entry, sets []fieldset.Set, path fieldset.Path) []apply.Entry {
	var owners []apply.Entry
	for i, set := range sets {
		if set.Has(path) || !set.At(path).IsEmpty() {
			owners = append(owners, entries[i])
		}
	}
	return owners
}
