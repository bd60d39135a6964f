package ownership

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// Result is the result of Release, Transfer, Migrate or TakeOver.
type Result struct {
	// Entries are all managed fields entries of the object after the change, sorted as in Kubernetes.
	Entries []apply.Entry
	// Moves are the fields that entries released, one Move per releasing entry. It is empty if nothing changed.
	Moves []Move
	// LastAppliedEntry is the entry of [LastAppliedManager] that was added, or nil if none was added.
	LastAppliedEntry *apply.Entry
}

// NoOp reports whether the managed fields entries did not change.
func (r Result) NoOp() bool { return len(r.Moves) == 0 }

// Move holds the fields that one managed fields entry released, and the subsets of them that another entry gained or did
// not get.
type Move struct {
	// From is the releasing entry before the change.
	From apply.Entry
	// Fields are the fields that the entry released.
	Fields fieldset.Set
	// Gained are the released fields that the receiving entry did not own before. It is empty if no entry receives them.
	Gained fieldset.Set
	// Lost are the released fields that the receiving entry does not get, because the object does not have them at the API
	// version of that entry. They include absences that the releasing entry of another version owned, except below metadata.
	Lost fieldset.Set
}

// ownerChange is a change of managedFields in which entries release fields, and one entry may receive them.
type ownerChange struct {
	// releasedFields returns the subset of an entry's fields (owned) that the entry releases. ok is false if the entry does
	// not take part in the change.
	releasedFields func(e apply.Entry, owned fieldset.Set) (released fieldset.Set, ok bool)
	// receiver selects the entry that receives the released fields. It is nil if no entry receives them.
	receiver *Selector
}

// apply performs the change and returns the result with the new entries:
//
//  1. Each entry for which releasedFields returns ok, except the receiver's, releases these fields; an entry without
//     remaining fields is removed.
//  2. If the receiver has no entry, one is added, with the API version and time of the first releasing entry.
//  3. The released fields are added to the receiver's entry.
//
// If the entries have different API versions, the object must be at the version of the receiver's entry; otherwise apply
// returns an *OtherVersionError.
func (c ownerChange) apply(o apply.Object) (Result, error) {
	receiverIndex := c.receiverIndex(o)
	var entries []apply.Entry
	var moves []Move
	for i, e := range o.Entries {
		owned, err := decodeFields(o.Entries, i)
		if err != nil {
			return Result{}, err
		}
		released, ok := fieldset.Set{}, false
		if i != receiverIndex {
			released, ok = c.releasedFields(e, owned)
		}
		if !ok {
			entries = append(entries, e)
			continue
		}
		moves = append(moves, Move{From: e, Fields: released})
		if rest := owned.Difference(released); !rest.IsEmpty() {
			e.FieldsV1 = rest.FieldsV1()
			entries = append(entries, e)
		}
	}
	index := len(entries)
	switch {
	case len(moves) == 0:
		return Result{Entries: o.Entries}, nil
	case receiverIndex >= 0:
		index = slices.Index(entries, o.Entries[receiverIndex])
	case c.receiver != nil:
		entries = append(entries, c.newEntry(moves[0].From))
	}
	if c.receiver != nil {
		var err error
		if entries[index], err = receiveFields(o, entries[index], moves); err != nil {
			return Result{}, err
		}
	}
	apply.SortEntries(entries)
	return Result{Entries: entries, Moves: moves}, nil
}

// receiverIndex returns the index of the receiver's entry in o.Entries, -1 if o has no such entry or if no entry receives
// the fields.
func (c ownerChange) receiverIndex(o apply.Object) int {
	if c.receiver == nil {
		return -1
	}
	return slices.IndexFunc(o.Entries, c.receiver.Selects)
}

// newEntry returns a new entry of the receiver without fields, with the API version and time of a releasing entry.
func (c ownerChange) newEntry(releaser apply.Entry) apply.Entry {
	return apply.Entry{
		Manager: c.receiver.Manager, Operation: c.receiver.Operation, Subresource: c.receiver.Subresource,
		APIVersion: releaser.APIVersion, Time: releaser.Time, FieldsV1: emptyFieldsV1,
	}
}

// receiveFields returns the entry receiver with the released fields of all moves added, and sets Gained and Lost of the
// moves. Fields that were released by an entry of another API version are added only if the object has them at the version
// of the receiver's entry.
func receiveFields(o apply.Object, receiver apply.Entry, moves []Move) (apply.Entry, error) {
	owned, _ := receiver.Fields() // the error is nil, because the caller has decoded this field set
	version := o.Document.Get("apiVersion").Text()
	all := owned
	for i, m := range moves {
		moved := m.Fields
		if m.From.APIVersion != receiver.APIVersion {
			if version != receiver.APIVersion {
				return receiver, &OtherVersionError{Entry: receiver, Received: version}
			}
			absent := metadataAbsences(o, m)
			moved = restrictToObject(o, moved).Union(absent)
			moves[i].Lost = m.Fields.Difference(existingFields(o.Document, m.Fields)).Difference(absent)
		}
		moves[i].Gained = gainedFields(m.Fields, moved.Difference(owned))
		all = all.Union(moved)
	}
	receiver.FieldsV1 = all.FieldsV1()
	return receiver, nil
}

// metadataAbsences returns the fields of a move below metadata that the object does not have and that an applier owned, because
// it required their absence with unset markers. The fields of metadata are the same at all versions; absences of other fields cannot
// be moved to another version, because they have no value that a conversion would move.
func metadataAbsences(o apply.Object, m Move) fieldset.Set {
	if m.From.Operation != apply.Apply {
		return fieldset.Set{}
	}
	inMetadata := m.Fields.Covered(fieldset.New(fieldset.Names("metadata")))
	return inMetadata.Difference(existingFields(o.Document, inMetadata))
}

// gainedFields returns the subset of the released fields that the receiver's entry did not own before. added contains the
// paths that were added to that entry; instead of a released path, added may contain paths below the released path.
func gainedFields(fields, added fieldset.Set) fieldset.Set {
	if fields.Union(added).Equal(fields) {
		return added
	}
	var paths []fieldset.Path
	for path := range fields.All() {
		single := fieldset.New(path)
		if below := added.Covered(single); added.Has(path) || !below.IsEmpty() && fields.Intersection(below).IsEmpty() {
			paths = append(paths, single.Paths()...)
		}
	}
	return fieldset.New(paths...)
}

// emptyFieldsV1 is the encoding of the empty field set.
const emptyFieldsV1 = "{}"

// decodeAll decodes the field sets of all entries. Callers that look up many paths call it first, to decode each field set
// only once.
func decodeAll(entries []apply.Entry) ([]fieldset.Set, error) {
	sets := make([]fieldset.Set, len(entries))
	for i := range entries {
		var err error
		if sets[i], err = decodeFields(entries, i); err != nil {
			return nil, err
		}
	}
	return sets, nil
}

// decodeFields decodes the field set of the i-th entry. It returns an *apply.EntryError if that fails.
func decodeFields(entries []apply.Entry, i int) (fieldset.Set, error) {
	set, err := entries[i].Fields()
	if err != nil {
		return set, &apply.EntryError{Index: i, Problem: fmt.Sprintf("expected a field set of manager %q", entries[i].Manager), Err: err}
	}
	return set, nil
}
