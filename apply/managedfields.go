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

// managedEntry is a managed fields entry during an apply or update, with its field set decoded on demand.
type managedEntry struct {
	entry Entry
	// index is the index of the entry in metadata.managedFields of the live object, for error messages.
	index int
	// set is the decoded field set; it is valid if decoded is true. reencode reports that set differs from
	// entry.FieldsV1. changed reports that the entry differs from the entry of the live object.
	//
	//	reencode ⇒ decoded && changed
	//	!decoded ⇒ entry.FieldsV1 is in the canonical encoding of Kubernetes
	set                        fieldset.Set
	decoded, reencode, changed bool
}

// managedFields holds the managed fields entries of an object during one apply or update.
type managedFields struct {
	list   []managedEntry
	engine *Engine
	// dropped are the entries of the live object whose version no longer exists; see Result.Dropped.
	dropped []Entry
	// kept are the entries that remain unchanged because the conversion to their version is unavailable; see
	// Result.Kept.
	kept []Entry
	// entryRemoved reports that an entry of the live object was removed because it was a duplicate or had no fields.
	entryRemoved bool
}

// BeforeFirstApply is the field manager of the fields that an object without managedFields contained when it was first
// applied to, as in Kubernetes.
const BeforeFirstApply = "before-first-apply"

// readManagedForApply reads the managed fields entries of an object for an apply. If the object exists without entries,
// it adds an entry of the manager BeforeFirstApply for all fields of the object, so the apply conflicts instead of
// overwriting these fields.
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
	return o, o.addFields(entry, all.addedOrModified().Difference(untrackedFields), r.Time)
}

// readManaged reads entries and reconciles their field sets with the current topology. Entries of versions that no
// longer exist are dropped. If several entries have the same identity, the last of them is used.
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

// reconcileEntry adapts the field set of an entry to the topology t. It returns an EntryError if the field set can't be
// decoded. If the cache contains the FieldsV1 of the entry, the field set fits and is not decoded.
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

// decode decodes the field set into m.set, unless it is decoded already. It returns an EntryError if FieldsV1 is
// invalid.
func (m *managedEntry) decode() (err error) {
	if m.decoded {
		return nil
	}
	if m.set, err = m.entry.Fields(); err != nil {
		return &EntryError{Index: m.index, Problem: "expected a field set", Err: err}
	}
	m.decoded = true
	return nil
}

// difference returns the fields that the entry m owns and the entry other does not own. It decodes the field sets only
// if it can't compare their FieldsV1 texts.
func (m *managedEntry) difference(other *managedEntry) (fieldset.Set, error) {
	if !m.decoded && !other.decoded {
		if missing, ok := fastset.Difference(m.entry.FieldsV1, other.entry.FieldsV1); ok {
			return missing, nil
		}
	}
	if err := cmp.Or(m.decode(), other.decode()); err != nil {
		return fieldset.Set{}, err
	}
	return m.set.Difference(other.set), nil
}

// restrictTo returns a subset of the entry's field set that contains at least the members at or below paths; it may
// contain further members. The result is valid until the arena is reset.
func (m *managedEntry) restrictTo(arena *fastset.Arena, paths fieldset.Set) (fieldset.Set, error) {
	if !m.decoded {
		if restricted, ok := arena.Project(m.entry.FieldsV1, paths); ok {
			return restricted, nil
		}
	}
	err := m.decode()
	return m.set, err
}

// fields returns the field set of the i-th entry.
func (managed *managedFields) fields(i int) (fieldset.Set, error) {
	err := managed.list[i].decode()
	return managed.list[i].set, err
}

// find returns the index in list of the entry with the same identity as entry, -1 if list contains no such entry.
func (managed *managedFields) find(entry Entry) int {
	return slices.IndexFunc(managed.list, func(m managedEntry) bool { return m.entry.sameManager(entry) })
}

// maxLinearEntries is the maximum number of entries that readManaged searches linearly; for more entries it builds a
// map.
const maxLinearEntries = 16

// findIndexed is the variant of find for readManaged, which appends each entry that is not found to list. indexes maps
// the identity of an entry to its index in list; if indexes is nil, findIndexed searches list linearly. If the entry is
// not found, findIndexed adds it to indexes, with the index that it will have in list, and returns -1.
func (managed *managedFields) findIndexed(indexes map[[4]string]int, entry Entry) int {
	if indexes == nil {
		return managed.find(entry)
	}
	identity := entry.identity()
	if existing, ok := indexes[identity]; ok {
		return existing
	}
	indexes[identity] = len(managed.list)
	return -1
}

// setsByVersion returns the field sets of all entries, grouped by version.
func (managed *managedFields) setsByVersion() (map[string][]fieldset.Set, error) {
	sets := map[string][]fieldset.Set{}
	for i := range managed.list {
		set, err := managed.fields(i)
		if err != nil {
			return nil, err
		}
		version := managed.list[i].entry.APIVersion
		sets[version] = append(sets[version], set)
	}
	return sets, nil
}

// recordApply sets the field set of the applier's entry to the field set of its configuration. self is the index of the
// entry, and previous is a copy of the entry before the change. previous is nil if the applier had no entry, or if its
// field set did not change.
func (managed *managedFields) recordApply(entry Entry, intended intent) (self int, previous *managedEntry) {
	entry.FieldsV1 = intended.fieldsV1
	if self = managed.find(entry); self < 0 {
		managed.list = append(managed.list, managedEntry{entry: entry, changed: intended.fieldsV1 != emptyFieldsV1})
		return len(managed.list) - 1, nil
	}
	m := &managed.list[self]
	sameVersion := m.entry.APIVersion == entry.APIVersion
	if sameVersion && m.entry.FieldsV1 == intended.fieldsV1 && !managed.engine.options.plain {
		return self, nil
	}
	previousEntry := *m
	if !m.decoded {
		// Both FieldsV1 texts are in the canonical encoding, so different texts are different field sets.
		m.entry.APIVersion, m.entry.FieldsV1, m.changed = entry.APIVersion, intended.fieldsV1, true
		return self, &previousEntry
	}
	m.set = intended.fields()
	if !sameVersion || !m.set.Equal(previousEntry.set) {
		m.entry.APIVersion, m.entry.FieldsV1 = entry.APIVersion, intended.fieldsV1
		m.reencode, m.changed = false, true
	}
	return self, &previousEntry
}

// noEntry is the argument of disownChanged that excludes no entry.
const noEntry = -1

// disownChanged removes the fields that were changed or removed from all entries except the entry with the index
// except. If one of these entries owns a field that was added, modified or removed by an unset marker, the field is a
// conflict; disownChanged returns a ConflictError unless all conflicts are forced.
func (managed *managedFields) disownChanged(c *versionedChanges, except int, r Request) error {
	if c.unchanged {
		return nil
	}
	var conflicts []conflictCandidate
	losses := make([]fieldset.Set, len(managed.list))
	for i := range managed.list {
		if i == except {
			continue
		}
		changes, err := c.changesAt(managed.list[i].entry.APIVersion)
		switch {
		case isVersionGone(err):
			losses[i], err = managed.dropEntry(i)
		case except == noEntry && errors.Is(err, ErrConversionUnavailable):
			managed.kept, err = append(managed.kept, managed.list[i].entry), nil
		case err == nil:
			var conflicting fieldset.Set
			if conflicting, losses[i], err = managed.lostFields(i, changes); !conflicting.IsEmpty() {
				conflicts = append(conflicts, conflictCandidate{managed.list[i].entry, conflicting, changes})
			}
		}
		if err != nil {
			return err
		}
	}
	if err := checkConflicts(conflicts, r); err != nil {
		return err
	}
	return managed.removeFields(losses)
}

// dropEntry adds the i-th entry to managed.dropped, because its version no longer exists, and returns its whole field
// set, which the caller removes from the entry.
func (managed *managedFields) dropEntry(i int) (all fieldset.Set, err error) {
	managed.dropped = append(managed.dropped, managed.list[i].entry)
	return managed.fields(i)
}

// lostFields returns the fields of the i-th entry that were changed or removed (all), including unset fields inside of removed
// list items, and the subset of these fields that conflicts (conflicting).
func (managed *managedFields) lostFields(i int, changes changesAtVersion) (conflicting, all fieldset.Set, err error) {
	if conflicting, err = managed.intersection(i, changes.conflicting); err != nil {
		return conflicting, all, err
	}
	removed, err := managed.intersection(i, changes.tracked.Removed)
	if err != nil {
		return conflicting, all, err
	}
	if items := itemsIn(changes.tracked.Removed); managed.engine.options.Unset && !items.IsEmpty() {
		// An unset field inside of a removed list item is removed from the entry: applying its marker again would create the
		// item.
		set, err := managed.fields(i)
		if err != nil {
			return conflicting, all, err
		}
		removed = removed.Union(set.Covered(items))
	}
	return conflicting, conflicting.Union(removed), nil
}

// itemsIn returns the members of a field set that are list items.
func itemsIn(s fieldset.Set) fieldset.Set {
	var b fastset.Builder
	return addItems(&b, s)
}

// addItems is the recursive part of itemsIn.
func addItems(b *fastset.Builder, s fieldset.Set) fieldset.Set {
	mark := b.Mark()
	for i := range s.Len() {
		e := s.Element(i)
		if isItem := s.Member(i) && e.Kind() != fieldset.FieldName; isItem {
			b.Push(e, true, fieldset.Set{})
		} else {
			b.Push(e, false, addItems(b, s.Child(i)))
		}
	}
	return b.Set(mark)
}

// removeFields removes losses[i] from the field set of the i-th entry, for every i.
func (managed *managedFields) removeFields(losses []fieldset.Set) error {
	for i, loss := range losses {
		if loss.IsEmpty() {
			continue
		}
		set, err := managed.fields(i)
		if err != nil {
			return err
		}
		managed.list[i].setFields(set.Difference(loss))
	}
	return nil
}

// intersection returns the subset of fields that the i-th entry owns. Most entries own none of the changed fields; a
// search in FieldsV1 finds that out without decoding the field set.
func (managed *managedFields) intersection(i int, fields fieldset.Set) (fieldset.Set, error) {
	if fields.IsEmpty() {
		return fieldset.Set{}, nil
	}
	if !managed.list[i].decoded && !managed.engine.options.plain {
		if result, ok := fastset.Intersection(managed.list[i].entry.FieldsV1, fields); ok {
			return result, nil
		}
	}
	set, err := managed.fields(i)
	return set.Intersection(fields), err
}

// addFields adds set to the managed fields entry with the identity of entry, and sets the time of that entry to now. It
// creates the entry if necessary. It does nothing if set is empty.
func (managed *managedFields) addFields(entry Entry, set fieldset.Set, now time.Time) error {
	if set.IsEmpty() {
		return nil
	}
	self := managed.find(entry)
	if self < 0 {
		entry.Time = now.UTC().Truncate(time.Second)
		managed.list = append(managed.list, managedEntry{entry: entry, set: set, decoded: true, reencode: true, changed: true})
		return nil
	}
	old, err := managed.fields(self)
	if err != nil {
		return err
	}
	managed.list[self].setFields(old.Union(set))
	managed.setTime(self, now)
	return nil
}

// setFields replaces the field set of the entry, which must be decoded.
func (m *managedEntry) setFields(set fieldset.Set) {
	if !set.Equal(m.set) {
		m.set, m.reencode, m.changed = set, true, true
	}
}

// setTime sets the time of the i-th entry to now in UTC, truncated to seconds.
func (managed *managedFields) setTime(i int, now time.Time) {
	now = now.UTC().Truncate(time.Second)
	if !managed.list[i].entry.Time.Equal(now) {
		managed.list[i].entry.Time = now
		managed.list[i].changed = true
	}
}

// emptyFieldsV1 is the encoding of the empty field set.
const emptyFieldsV1 = "{}"

// hasFields reports whether the field set of the entry is not empty.
func (m *managedEntry) hasFields() bool {
	if m.decoded {
		return !m.set.IsEmpty()
	}
	return m.entry.FieldsV1 != emptyFieldsV1
}

// result returns the Result of an apply or update whose new document is doc.
func (managed *managedFields) result(live Object, doc document.Value, c *versionedChanges) Result {
	unchanged := c.unchanged && !live.Document.IsAbsent()
	if unchanged {
		doc = live.Document
	}
	return Result{
		Object:  Object{Document: doc, Entries: managed.entries(live.Entries)},
		NoOp:    unchanged && !managed.anyChanged(),
		Dropped: managed.dropped,
		Kept:    managed.kept,
		changes: c,
	}
}

// anyChanged reports whether any entry was added, changed or removed.
func (managed *managedFields) anyChanged() bool {
	return managed.entryRemoved || len(managed.dropped) > 0 ||
		slices.ContainsFunc(managed.list, func(m managedEntry) bool { return m.changed })
}

// entries returns the new managed fields entries, sorted, with encoded field sets and without entries that own no
// fields. If no entry changed, it returns the live entries.
func (managed *managedFields) entries(live []Entry) []Entry {
	if !managed.anyChanged() {
		return live
	}
	entries := make([]Entry, 0, len(managed.list))
	for _, m := range managed.list {
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
