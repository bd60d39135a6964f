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

// mergeOldestUpdates merges pairs of managed fields entries with operation Update and the same version, the oldest
// first, until at most limit such entries remain, or each version has only one. It also removes entries without fields.
func (o *managedFields) mergeOldestUpdates(limit int) error {
	o.list = slices.DeleteFunc(o.list, func(m managedEntry) bool {
		o.entryRemoved = o.entryRemoved || !m.hasFields()
		return !m.hasFields()
	})
	var updates []Entry
	for _, m := range o.list {
		if m.entry.Operation == Update {
			updates = append(updates, m.entry)
		}
	}
	if len(updates) <= limit {
		return nil
	}
	slices.SortStableFunc(updates, compareEntries)
	merger := newUpdateMerger(o)
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

// updateMerger merges entries with operation Update. An object may have thousands of entries; therefore the entries are
// indexed, and finish merges each field set once.
type updateMerger struct {
	*managedFields
	indexes map[[4]string]int // maps Entry.identity to the index of the entry in managedFields.list
	// sets maps the index of a target entry to the field sets to merge into it; merged contains the indexes of the
	// entries to remove.
	sets   map[int][]fieldset.Set
	merged map[int]bool
}

func newUpdateMerger(o *managedFields) *updateMerger {
	a := &updateMerger{managedFields: o, indexes: make(map[[4]string]int, len(o.list)), sets: map[int][]fieldset.Set{}, merged: map[int]bool{}}
	for i := range o.list {
		a.indexes[o.list[i].entry.identity()] = i
	}
	return a
}

// merge schedules entry to be merged into the ancient-changes entry of its version. If there is no ancient-changes
// entry, the oldest entry of the version is renamed to ancient-changes. If entry is itself the ancient-changes entry,
// because it has the same time as oldest, oldest is merged into entry instead.
func (a *updateMerger) merge(oldest, entry Entry) error {
	ancient := Entry{Manager: ancientChangesManager, Operation: Update, APIVersion: entry.APIVersion}
	target, ok := a.indexes[ancient.identity()]
	if !ok {
		target = a.indexes[oldest.identity()]
		ancient.FieldsV1 = a.list[target].entry.FieldsV1
		a.list[target].entry = ancient
		a.indexes[ancient.identity()] = target
	}
	from := a.indexes[entry.identity()]
	if from == target {
		from = a.indexes[oldest.identity()]
	}
	for _, i := range []int{target, from} {
		if i == target && a.sets[target] != nil {
			continue
		}
		set, err := a.fields(i)
		if err != nil {
			return err
		}
		a.sets[target] = append(a.sets[target], set)
	}
	a.list[target].entry.Time = entry.Time
	a.merged[from] = true
	return nil
}

// finish performs the scheduled merges.
func (a *updateMerger) finish() {
	for target, sets := range a.sets {
		a.list[target].setFields(unionOf(sets))
		a.list[target].changed = true
	}
	i := -1
	a.list = slices.DeleteFunc(a.list, func(managedEntry) bool {
		i++
		return a.merged[i]
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
