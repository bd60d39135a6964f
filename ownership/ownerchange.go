package ownership

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
)

// Result is the outcome of a change of owners.
type Result struct {
	// Entries are the new entries, in the order of Kubernetes.
	Entries []apply.Entry
	// Moves are the fields that entries lost. It is empty if nothing changed.
	Moves []Move
	// LastAppliedEntry is the entry of [LastAppliedManager] that was added, or nil.
	LastAppliedEntry *apply.Entry
}

// NoOp reports whether nothing changed.
func (r Result) NoOp() bool { return len(r.Moves) == 0 }

// Move has the fields that one entry lost.
type Move struct {
	// From is the entry before the change.
	From apply.Entry
	// Fields are the fields that it lost.
	Fields fieldset.Set
	// Gained are those of Fields that the new owner did not own before. It is empty for a release.
	Gained fieldset.Set
	// Lost are those of Fields that have no new owner: the object does not have them at the version of the new owner's
	// entry.
	Lost fieldset.Set
}

// ownerChange is a change of owners: entries give fields up, and one may get them.
type ownerChange struct {
	// gives returns what an entry gives up of what it owns; ok is false if the change is not about it.
	released func(e apply.Entry, owned fieldset.Set) (given fieldset.Set, ok bool)
	// to is whose entry gets what the others give up, or nil.
	receiver *Selector
}

// apply makes the change. It goes as follows:
//
//  1. each entry but the receiver's gives up its part, and is gone if that is all;
//  2. the receiver's entry is one that is there, or a new one that is like the first that gave something up;
//  3. it gets all that was given up.
//
// Sets of several versions come together only in an object that is at the version of the receiver: an *OtherVersionError
// says which that is.
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
			released, ok = c.released(e, owned)
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
		if entries[index], err = receive(o, entries[index], moves); err != nil {
			return Result{}, err
		}
	}
	apply.SortEntries(entries)
	return Result{Entries: entries, Moves: moves}, nil
}

// receiverIndex returns the place of the entry that gets the fields, -1 if there is none yet.
func (c ownerChange) receiverIndex(o apply.Object) int {
	if c.receiver == nil {
		return -1
	}
	return slices.IndexFunc(o.Entries, c.receiver.Selects)
}

// newEntry returns the receiver's entry if there is none yet: it has the version and the time of one that
// gives something up.
func (c ownerChange) newEntry(releaser apply.Entry) apply.Entry {
	return apply.Entry{
		Manager: c.receiver.Manager, Operation: c.receiver.Operation, Subresource: c.receiver.Subresource,
		APIVersion: releaser.APIVersion, Time: releaser.Time, FieldsV1: emptyFieldsV1,
	}
}

// receive returns the receiver with all that moves, and notes in the moves what it gained. A set of
// another version counts as far as the object has the fields at the version of the receiver.
func receive(o apply.Object, receiver apply.Entry, moves []Move) (apply.Entry, error) {
	owned, _ := receiver.Fields() // all sets have been read once
	version := o.Document.Get("apiVersion").Text()
	all := owned
	for i, m := range moves {
		moved := m.Fields
		if m.From.APIVersion != receiver.APIVersion {
			if version != receiver.APIVersion {
				return receiver, &OtherVersionError{Entry: receiver, Received: version}
			}
			moved = restrictToObject(o, moved)
			moves[i].Lost = m.Fields.Difference(existingFields(o.Document, m.Fields))
		}
		moves[i].Gained = gainedFields(m.Fields, moved.Difference(owned))
		all = all.Union(moved)
	}
	receiver.FieldsV1 = all.FieldsV1()
	return receiver, nil
}

// gainedFields returns those of some fields that are new to somebody, by what is: it may have the fields of one instead.
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

// emptyFieldsV1 is the empty set as FieldsV1.
const emptyFieldsV1 = "{}"

// decodeAll are the field sets of entries. Reading them costs more than asking them: who asks about many paths reads once.
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

// decodeFields reads the set of an entry.
func decodeFields(entries []apply.Entry, i int) (fieldset.Set, error) {
	set, err := entries[i].Fields()
	if err != nil {
		return set, &apply.EntryError{Index: i, Problem: fmt.Sprintf("the fields of %q can't be read", entries[i].Manager), Err: err}
	}
	return set, nil
}
