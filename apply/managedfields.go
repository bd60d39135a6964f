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

// managedEntry is a managed fields entry during an operation, with its field set decoded on demand.
type managedEntry struct {
	entry Entry
	// index is the index of the entry in managedFields.
	index int
	// set is the field set if decoded is true. reencode reports that it differs from entry.FieldsV1; changed reports
	// that the entry differs from the one that was read.
	//
	//	reencode ⇒ decoded && changed
	//	!decoded ⇒ entry.FieldsV1 is in the canonical encoding of Kubernetes
	set                        fieldset.Set
	decoded, reencode, changed bool
}

// managedFields are the entries of an object during one operation.
type managedFields struct {
	list   []managedEntry
	engine *Engine
	// dropped are the entries that were read and whose version no longer exists.
	dropped []Entry
	// kept are the entries whose lost fields are unknown, because the conversion to their version is unavailable.
	kept []Entry
	// entryRemoved reports that an entry that was read was removed for another reason: it was a duplicate, or had no
	// fields.
	entryRemoved bool
}

// BeforeFirstApply is the field manager that owns the fields that an object had before its managedFields were
// tracked.
const BeforeFirstApply = "before-first-apply"

// readManagedForApply reads the entries of an object for an apply. If the object exists without entries, its fields
// get the owner BeforeFirstApply, so that the apply conflicts instead of overwriting them.
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

// readManaged reads entries and reconciles their field sets with the current topology. Entries of versions that no
// longer exist are dropped. Of several entries of the same manager the last one is used.
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

// reconcileEntry makes sure that the field set of an entry can be decoded and fits the topology. If the cache has the
// set as valid, non-empty and canonical, it is not decoded.
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

// decode decodes the field set, unless that was done before.
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

// difference returns the fields of o that are not in other.
func (o *managedEntry) difference(other *managedEntry) (fieldset.Set, error) {
	if !o.decoded && !other.decoded {
		if missing, ok := fastset.Difference(o.entry.FieldsV1, other.entry.FieldsV1); ok {
			return missing, nil
		}
	}
	if err := cmp.Or(o.decode(), other.decode()); err != nil {
		return fieldset.Set{}, err
	}
	return o.set.Difference(other.set), nil
}

// restrictTo returns the field set restricted to the elements of the given paths; it may return more. The result is
// valid until the arena is reset.
func (o *managedEntry) restrictTo(arena *fastset.Arena, paths fieldset.Set) (fieldset.Set, error) {
	if !o.decoded {
		if restricted, ok := arena.Project(o.entry.FieldsV1, paths); ok {
			return restricted, nil
		}
	}
	err := o.decode()
	return o.set, err
}

// fields returns the field set of the i-th entry.
func (o *managedFields) fields(i int) (fieldset.Set, error) {
	err := o.list[i].decode()
	return o.list[i].set, err
}

// find returns the index of the entry with the same identity, -1 if there is none.
func (o *managedFields) find(entry Entry) int {
	return slices.IndexFunc(o.list, func(m managedEntry) bool { return m.entry.sameManager(entry) })
}

// maxLinearEntries is the maximum number of entries that are searched linearly.
const maxLinearEntries = 16

// findIndexed is find for a caller that adds entries one by one. If indexes is not nil, it is used for the lookup,
// and an entry that is not found is added to it at the end of the list.
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

// setsByVersion returns the field sets of all entries by version.
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

// recordApply replaces the field set of an applier by that of its intent. It returns the index of the applier's
// entry, and the previous entry; nil if there was none, or its field set is the same.
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
		// Both field sets are in canonical encoding, so that different texts are different sets.
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

// noEntry is the index of no entry.
const noEntry = -1

// disownChanged removes the changed and removed fields from all entries except one. Added and modified fields, and
// fields removed by unset markers, are conflicts; it returns a ConflictError unless they are forced.
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

// dropEntry marks an entry as dropped because its version no longer exists, and returns its fields, all of which it
// loses.
func (o *managedFields) dropEntry(i int) (all fieldset.Set, err error) {
	o.dropped = append(o.dropped, o.list[i].entry)
	return o.fields(i)
}

// lostFields returns the fields of an entry that changed or were removed, and the subset that conflicts.
func (o *managedFields) lostFields(i int, changes changesAtVersion) (conflicting, all fieldset.Set, err error) {
	if conflicting, err = o.intersection(i, changes.conflicting); err != nil {
		return conflicting, all, err
	}
	removed, err := o.intersection(i, changes.tracked.Removed)
	return conflicting, conflicting.Union(removed), err
}

// removeFields removes from the i-th entry the i-th set of fields.
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

// intersection returns the given fields that the i-th entry owns. Most entries own none of the changed fields;
// searching their encoded field set shows that without decoding it.
func (o *managedFields) intersection(i int, fields fieldset.Set) (fieldset.Set, error) {
	if fields.IsEmpty() {
		return fieldset.Set{}, nil
	}
	if !o.list[i].decoded && !o.engine.options.plain {
		if result, ok := fastset.Intersection(o.list[i].entry.FieldsV1, fields); ok {
			return result, nil
		}
	}
	set, err := o.fields(i)
	return set.Intersection(fields), err
}

// addFields adds fields to the entry of a manager, which is created if necessary. If the set is empty, nothing
// changes.
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

// setFields replaces the field set.
func (o *managedEntry) setFields(set fieldset.Set) {
	if !set.Equal(o.set) {
		o.set, o.reencode, o.changed = set, true, true
	}
}

// setTime sets the time of the i-th entry, truncated to seconds.
func (o *managedFields) setTime(i int, now time.Time) {
	now = now.UTC().Truncate(time.Second)
	if !o.list[i].entry.Time.Equal(now) {
		o.list[i].entry.Time = now
		o.list[i].changed = true
	}
}

// emptyFieldsV1 is the encoding of the empty field set.
const emptyFieldsV1 = "{}"

// hasFields reports whether the field set is not empty.
func (o *managedEntry) hasFields() bool {
	if o.decoded {
		return !o.set.IsEmpty()
	}
	return o.entry.FieldsV1 != emptyFieldsV1
}

// result returns the Result of an operation that ends with the given document.
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

// anyChanged reports whether any entry was added, changed or removed.
func (o *managedFields) anyChanged() bool {
	return o.entryRemoved || len(o.dropped) > 0 || slices.ContainsFunc(o.list, func(m managedEntry) bool { return m.changed })
}

// entries returns the entries with their field sets encoded, sorted, without empty ones. If nothing changed, it
// returns the live entries.
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
