package apply

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// managedEntry is an entry with its field set, which is only read when it is needed.
type managedEntry struct {
	entry Entry
	// index is the entry's place in managedFields.
	index int
	// set is the field set, once known is true. rewrite says that it is another
	// than the one that entry has as text; changed, that the entry is not the one
	// that was read.
	//
	//	rewrite ⇒ known && changed
	//	!known ⇒ the entry's text is as Kubernetes would write it
	set                     fieldset.Set
	decoded, reencode, changed bool
}

// managedFields are the entries of an object during one operation.
type managedFields struct {
	list   []managedEntry
	engine *Engine
	// dropped are the entries that were read and are of versions that are gone.
	dropped []Entry
	// kept are the entries of which nobody knows what they should have lost.
	kept []Entry
	// fewer says that another entry that was read is not in the list.
	entryRemoved bool
}

// BeforeFirstApply is the manager that owns the fields that an object had before managedFields recorded it.
const BeforeFirstApply = "before-first-apply"

// readManagedForApply reads the entries of an object that is about to be applied to. If
// nobody owns anything yet, what is there gets an owner, so that the applier can't
// change it unawares.
func (e *Engine) readManagedForApply(live Object, t *schema.Type, r Request) (*managedFields, error) {
	o, err := e.readManaged(live.Entries)
	if err != nil || len(live.Entries) > 0 || live.Document.IsAbsent() {
		return o, err
	}
	empty := r.Empty
	if empty.IsAbsent() {
		empty = document.NewMap()
	}
	all := e.compare(t, empty, live.Document).without(e.options.Reset[r.Version])
	entry := Entry{Manager: BeforeFirstApply, Operation: Update, APIVersion: r.Version, Subresource: r.Subresource}
	return o, o.addFields(entry, all.set().Difference(untrackedFields), r.Time)
}

// readManaged lists the owners, with their sets fitted to the topologies of today.
// Entries of versions that are gone are dropped.
func (e *Engine) readManaged(entries []Entry) (*managedFields, error) {
	o := &managedFields{engine: e, list: make([]managedEntry, 0, len(entries)+1)}
	indexes := map[[4]string]int(nil)
	if len(entries) > maxLinearEntries {
		indexes = make(map[[4]string]int, len(entries))
	}
	for i, entry := range entries {
		t, ok := e.options.Versions.Type(entry.APIVersion)
		if !ok {
			o.dropped = append(o.dropped, entry)
			continue
		}
		m := managedEntry{entry: entry, index: i}
		if err := e.reconcileEntry(&m, t); err != nil {
			return nil, err
		}
		if existing := o.findIndexed(indexes, entry); existing >= 0 {
			o.list[existing] = m
			o.entryRemoved = true
			continue
		}
		o.list = append(o.list, m)
	}
	return o, nil
}

// reconcileEntry makes sure that an owner's set can be read and fits its topology. A set that
// is known to do so, not to be empty, and to be written as Kubernetes writes it, is not
// read.
func (e *Engine) reconcileEntry(m *managedEntry, t *schema.Type) error {
	hash := e.reconciled.hash(m.entry.APIVersion, m.entry.FieldsV1)
	if e.reconciled.has(hash) && !e.options.plain {
		return nil
	}
	if err := m.decode(); err != nil {
		return err
	}
	reconciled := reconcile(m.set, t)
	if !reconciled.Equal(m.set) {
		m.setFields(reconciled)
	} else if m.hasFields() && m.set.FieldsV1() == m.entry.FieldsV1 {
		e.reconciled.add(hash)
	}
	return nil
}

// decode makes an owner's set known.
func (o *managedEntry) decode() (err error) {
	if o.decoded {
		return nil
	}
	if o.set, err = o.entry.Fields(); err != nil {
		return &EntryError{Index: o.index, Problem: "expected a field set", Err: err}
	}
	o.decoded = true
	return nil
}

// difference returns what an owner has and another has not.
func (o *managedEntry) difference(other *managedEntry) (fieldset.Set, error) {
	if !o.decoded && !other.decoded {
		if missing, ok := fastset.Lacking(o.entry.FieldsV1, other.entry.FieldsV1); ok {
			return missing, nil
		}
	}
	if err := cmp.Or(o.decode(), other.decode()); err != nil {
		return fieldset.Set{}, err
	}
	return o.set.Difference(other.set), nil
}

// restrictTo returns what an owner's set says on the way to some paths; it may say more. It is
// valid as long as the arena is not reset.
func (o *managedEntry) restrictTo(arena *fastset.Arena, paths fieldset.Set) (fieldset.Set, error) {
	if !o.decoded {
		if restricted, ok := arena.Along(o.entry.FieldsV1, paths); ok {
			return restricted, nil
		}
	}
	err := o.decode()
	return o.set, err
}

// fields returns what an owner owns.
func (o *managedFields) fields(i int) (fieldset.Set, error) {
	err := o.list[i].decode()
	return o.list[i].set, err
}

// find returns the place of the entry of the same manager, -1 if there is none.
func (o *managedFields) find(entry Entry) int {
	return slices.IndexFunc(o.list, func(m managedEntry) bool { return m.entry.sameManager(entry) })
}

// maxLinearEntries is how many entries are looked through for one.
const maxLinearEntries = 16

// findIndexed is find for whoever adds one entry after the other; with places it does not look
// through all of them, and notes where this one will be.
func (o *managedFields) findIndexed(indexes map[[4]string]int, entry Entry) int {
	if indexes == nil {
		return o.find(entry)
	}
	identity := entry.identity()
	if existing, ok := indexes[identity]; ok {
		return existing
	}
	indexes[identity] = len(o.list)
	return -1
}

// setsByVersion returns what all owners own, by version.
func (o *managedFields) setsByVersion() (map[string][]fieldset.Set, error) {
	sets := map[string][]fieldset.Set{}
	for i := range o.list {
		set, err := o.fields(i)
		if err != nil {
			return nil, err
		}
		version := o.list[i].entry.APIVersion
		sets[version] = append(sets[version], set)
	}
	return sets, nil
}

// recordApply makes what an applier intends all that it owns. It returns the manager's
// place, and what it owned before, nil if that was nothing or the same.
func (o *managedFields) recordApply(entry Entry, in intent) (self int, previous *managedEntry) {
	entry.FieldsV1 = in.fieldsV1
	if self = o.find(entry); self < 0 {
		o.list = append(o.list, managedEntry{entry: entry, changed: in.fieldsV1 != emptyFieldsV1})
		return len(o.list) - 1, nil
	}
	m := &o.list[self]
	sameVersion := m.entry.APIVersion == entry.APIVersion
	if sameVersion && m.entry.FieldsV1 == in.fieldsV1 && !o.engine.options.plain {
		return self, nil
	}
	previousEntry := *m
	if !m.decoded {
		// Both are written as Kubernetes writes them: other texts, other sets.
		m.entry.APIVersion, m.entry.FieldsV1, m.changed = entry.APIVersion, in.fieldsV1, true
		return self, &previousEntry
	}
	m.set = in.fields()
	if !sameVersion || !m.set.Equal(previousEntry.set) {
		m.entry.APIVersion, m.entry.FieldsV1 = entry.APIVersion, in.fieldsV1
		m.reencode, m.changed = false, true
	}
	return self, &previousEntry
}

// noEntry stands for the place of an owner that there is not.
const noEntry = -1

// disownChanged makes all owners but one lose what changed. What has a new value, or was
// unset, is a conflict: it must be forced.
func (o *managedFields) disownChanged(c *versionedChanges, except int, r Request) error {
	if c.unchanged {
		return nil
	}
	var conflicts []conflictCandidate
	losses := make([]fieldset.Set, len(o.list))
	for i := range o.list {
		if i == except {
			continue
		}
		changes, err := c.at(o.list[i].entry.APIVersion)
		switch {
		case isVersionGone(err):
			losses[i], err = o.dropEntry(i)
		case except == noEntry && errors.Is(err, ErrConversionUnavailable):
			o.kept, err = append(o.kept, o.list[i].entry), nil
		case err == nil:
			var conflicting fieldset.Set
			if conflicting, losses[i], err = o.lostFields(i, changes); !conflicting.IsEmpty() {
				conflicts = append(conflicts, conflictCandidate{o.list[i].entry, conflicting, changes})
			}
		}
		if err != nil {
			return err
		}
	}
	if err := checkConflicts(conflicts, r); err != nil {
		return err
	}
	return o.removeFields(losses)
}

// dropEntry notes that the version of an owner is gone. It loses all that it has.
func (o *managedFields) dropEntry(i int) (all fieldset.Set, err error) {
	o.dropped = append(o.dropped, o.list[i].entry)
	return o.fields(i)
}

// lostFields returns what an owner has of what changed, and which part of that it minds.
func (o *managedFields) lostFields(i int, changes changesAtVersion) (conflicting, all fieldset.Set, err error) {
	if conflicting, err = o.intersection(i, changes.conflicting); err != nil {
		return conflicting, all, err
	}
	removed, err := o.intersection(i, changes.tracked.Removed)
	return conflicting, conflicting.Union(removed), err
}

// removeFields takes from each owner what it loses.
func (o *managedFields) removeFields(losses []fieldset.Set) error {
	for i, loss := range losses {
		if loss.IsEmpty() {
			continue
		}
		set, err := o.fields(i)
		if err != nil {
			return err
		}
		o.list[i].setFields(set.Difference(loss))
	}
	return nil
}

// intersection returns what of the given fields an owner has. Most owners have nothing to
// do with most changes: that shows in the text of their set, which need not be read
// then.
func (o *managedFields) intersection(i int, fields fieldset.Set) (fieldset.Set, error) {
	if fields.IsEmpty() {
		return fieldset.Set{}, nil
	}
	if !o.list[i].decoded && !o.engine.options.plain {
		if result, ok := fastset.Common(o.list[i].entry.FieldsV1, fields); ok {
			return result, nil
		}
	}
	set, err := o.fields(i)
	return set.Intersection(fields), err
}

// addFields adds to what a manager owns. A manager that gets nothing is left as it is.
func (o *managedFields) addFields(entry Entry, set fieldset.Set, now time.Time) error {
	if set.IsEmpty() {
		return nil
	}
	self := o.find(entry)
	if self < 0 {
		entry.Time = now.UTC().Truncate(time.Second)
		o.list = append(o.list, managedEntry{entry: entry, set: set, decoded: true, reencode: true, changed: true})
		return nil
	}
	old, err := o.fields(self)
	if err != nil {
		return err
	}
	o.list[self].setFields(old.Union(set))
	o.setTime(self, now)
	return nil
}

// setFields gives an owner another set.
func (o *managedEntry) setFields(set fieldset.Set) {
	if !set.Equal(o.set) {
		o.set, o.reencode, o.changed = set, true, true
	}
}

// setTime notes that a manager changed something.
func (o *managedFields) setTime(i int, now time.Time) {
	now = now.UTC().Truncate(time.Second)
	if !o.list[i].entry.Time.Equal(now) {
		o.list[i].entry.Time = now
		o.list[i].changed = true
	}
}

// emptyFieldsV1 is the text of the empty set.
const emptyFieldsV1 = "{}"

// hasFields reports whether an owner has anything.
func (o *managedEntry) hasFields() bool {
	if o.decoded {
		return !o.set.IsEmpty()
	}
	return o.entry.FieldsV1 != emptyFieldsV1
}

// result is the outcome of the operation with the given document.
func (o *managedFields) result(live Object, doc document.Value, c *versionedChanges) Result {
	unchanged := c.unchanged && !live.Document.IsAbsent()
	if unchanged {
		doc = live.Document
	}
	return Result{
		Object:  Object{Document: doc, Entries: o.entries(live.Entries)},
		NoOp:    unchanged && !o.anyChanged(),
		Dropped: o.dropped,
		Kept:    o.kept,
		changes: c,
	}
}

func (o *managedFields) anyChanged() bool {
	return o.entryRemoved || len(o.dropped) > 0 || slices.ContainsFunc(o.list, func(m managedEntry) bool { return m.changed })
}

// entries returns the owners as entries, those that were read if nothing changed.
func (o *managedFields) entries(live []Entry) []Entry {
	if !o.anyChanged() {
		return live
	}
	entries := make([]Entry, 0, len(o.list))
	for _, m := range o.list {
		if !m.hasFields() {
			continue
		}
		if m.reencode {
			m.entry.FieldsV1 = m.set.FieldsV1()
		}
		entries = append(entries, m.entry)
	}
	SortEntries(entries)
	return entries
}
