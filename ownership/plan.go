package ownership

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Plan is the effect of a field manager's write on an object and on its managedFields.
type Plan struct {
	// Changes are the fields whose values change, except untracked fields; see [apply.UntrackedFields].
	Changes apply.Changes
	// Gained are the fields that the writing manager newly owns as the only owner, Shared are the fields that it newly
	// owns with co-owners, and Released are the fields that it no longer owns.
	Gained, Shared, Released fieldset.Set
	// Lost are the fields that other field managers no longer own, one Move per managed fields entry.
	Lost []Move
	// Kept are the fields that the writing manager released and that keep their value, including fields of other managers
	// that it takes over and releases in the same write.
	Kept []KeptField
}

// KeptField is a field that keeps its value although the writing manager released it.
type KeptField struct {
	Path  fieldset.Path
	Value document.Value
	// Owners are the managed fields entries that own the field or a field below it. It is empty if the value was set by the
	// server, for instance by defaulting.
	Owners []apply.Entry
}

// IsEmpty reports whether the write changes neither values nor owners. Kept fields do not count as a change.
func (p Plan) IsEmpty() bool {
	return p.Changes.IsEmpty() && p.Gained.IsEmpty() && p.Shared.IsEmpty() && p.Released.IsEmpty() && len(p.Lost) == 0
}

// Compare returns the effect of a field manager's write from the objects before and after it. The argument before is the
// zero Object if the write created the object. Both must be at the same API version. The schema may be nil; see [Blame].
func Compare(before, after apply.Object, manager Selector, t *schema.Type) (Plan, error) {
	var p Plan
	var err error
	if p.Changes, err = compareValues(before, after, t); err != nil {
		return p, err
	}
	ownedBefore, err := unionFields(before, manager.Selects)
	if err != nil {
		return p, err
	}
	owned, err := unionFields(after, manager.Selects)
	if err != nil {
		return p, err
	}
	others, err := unionFields(after, func(e apply.Entry) bool { return !manager.Selects(e) })
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

// compareValues returns the fields whose values differ between two objects, except untracked fields. It compares them as
// [apply.Engine.Update] does. It returns an error if the objects are at different API versions.
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

// unionFields returns the union of the field sets of the entries for which selects returns true.
func unionFields(o apply.Object, selects func(apply.Entry) bool) (fieldset.Set, error) {
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

// lostFields returns, for each managed fields entry that manager does not select, the fields that the entry owns in before
// but not in after.
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
		now, err := unionFields(after, func(other apply.Entry) bool {
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

// keptFields returns the released leaf fields that the object still has. owned contains the fields that the writing manager
// owns after the write. A released field is omitted if owned contains a field below or above it, because at another API
// version the same field may have a longer or shorter path. The last-applied annotation is omitted if LastAppliedManager
// owns it, because it is not part of any configuration.
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

// ownersAt returns the entries that own a field or a field below it. sets are the decoded field sets of the entries.
func ownersAt(entries []apply.Entry, sets []fieldset.Set, path fieldset.Path) []apply.Entry {
	var owners []apply.Entry
	for i, set := range sets {
		if set.Has(path) || !set.At(path).IsEmpty() {
			owners = append(owners, entries[i])
		}
	}
	return owners
}
