package apply

import (
	"slices"

	"github.com/cadastre/cadastre/fieldset"
)

const (
	// defaultMaxUpdateEntries is the default maximum number of managed fields entries with operation Update, as in
	// Kubernetes.
	defaultMaxUpdateEntries = 10
	// ancientChangesManager is the manager of the entry that the oldest Update entries are merged into.
	ancientChangesManager = "ancient-changes"
)

// mergeOldestUpdates merges managed fields entries with operation Update, the oldest first, until at most limit Update
// entries remain, or only one per version. It merges only entries of the same version. It also removes entries without
// fields.
func (managed *managedFields) mergeOldestUpdates(limit int) error {
	managed.list = slices.DeleteFunc(managed.list, func(m managedEntry) bool {
		managed.entryRemoved = managed.entryRemoved || !m.hasFields()
		return !m.hasFields()
	})
	var updates []Entry
	for _, m := range managed.list {
		if m.entry.Operation == Update {
			updates = append(updates, m.entry)
		}
	}
	if len(updates) <= limit {
		return nil
	}
	slices.SortStableFunc(updates, compareEntries)
	merger := newUpdateMerger(managed)
	oldestByVersion := map[string]Entry{}
	count := len(updates)
	for _, entry := range updates {
		if count <= limit {
			break
		}
		oldest, ok := oldestByVersion[entry.APIVersion]
		if !ok {
			oldestByVersion[entry.APIVersion] = entry
			continue
		}
		if err := merger.merge(oldest, entry); err != nil {
			return err
		}
		count--
	}
	merger.finish()
	return nil
}

// updateMerger merges entries with operation Update. An object may have thousands of entries. Therefore updateMerger
// indexes the entries, and finish merges all field sets of a target entry at once.
type updateMerger struct {
	*managedFields
	indexes map[[4]string]int // maps Entry.identity to the index of the entry in managedFields.list
	// sets maps the index of a target entry to the field sets to merge into it; merged contains the indexes of the
	// entries to remove.
	sets   map[int][]fieldset.Set
	merged map[int]bool
}

func newUpdateMerger(managed *managedFields) *updateMerger {
	m := &updateMerger{managedFields: managed, indexes: make(map[[4]string]int, len(managed.list)), sets: map[int][]fieldset.Set{}, merged: map[int]bool{}}
	for i := range managed.list {
		m.indexes[managed.list[i].entry.identity()] = i
	}
	return m
}

// merge schedules entry to be merged into the ancient-changes entry of its version. If there is no ancient-changes
// entry, the oldest entry of the version is renamed to ancient-changes. If entry is itself the ancient-changes entry,
// because it has the same time as oldest, oldest is merged into entry instead.
func (m *updateMerger) merge(oldest, entry Entry) error {
	ancient := Entry{Manager: ancientChangesManager, Operation: Update, APIVersion: entry.APIVersion}
	target, ok := m.indexes[ancient.identity()]
	if !ok {
		target = m.indexes[oldest.identity()]
		ancient.FieldsV1 = m.list[target].entry.FieldsV1
		m.list[target].entry = ancient
		m.indexes[ancient.identity()] = target
	}
	from := m.indexes[entry.identity()]
	if from == target {
		from = m.indexes[oldest.identity()]
	}
	for _, i := range []int{target, from} {
		if i == target && m.sets[target] != nil {
			continue
		}
		set, err := m.fields(i)
		if err != nil {
			return err
		}
		m.sets[target] = append(m.sets[target], set)
	}
	m.list[target].entry.Time = entry.Time
	m.merged[from] = true
	return nil
}

// finish performs the scheduled merges.
func (m *updateMerger) finish() {
	for target, sets := range m.sets {
		m.list[target].setFields(unionOf(sets))
		m.list[target].changed = true
	}
	i := -1
	m.list = slices.DeleteFunc(m.list, func(managedEntry) bool {
		i++
		return m.merged[i]
	})
}

// unionOf returns the union of one or more sets. It merges the two halves recursively, at a cost of n log n instead of
// n² for n sets.
func unionOf(sets []fieldset.Set) fieldset.Set {
	if len(sets) == 1 {
		return sets[0]
	}
	half := len(sets) / 2
	return unionOf(sets[:half]).Union(unionOf(sets[half:]))
}
