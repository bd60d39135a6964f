package apply

import (
	"slices"

	"github.com/cadastre/cadastre/fieldset"
)

const (
	// defaultMaxUpdateEntries is how many Update entries Kubernetes keeps.
	defaultMaxUpdateEntries = 10
	// ancientChangesManager is the manager that the oldest Update entries are joined
	// under.
	ancientChangesManager = "ancient-changes"
)

// mergeOldestUpdates joins the oldest Update entries of each version until no more than most are
// left, or nothing can be joined.
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

// updateMerger joins entries. A body has room for thousands of them, so that each is looked at once.
type updateMerger struct {
	*managedFields
	indexes map[[4]string]int // of the entries, in the list
	// sets are what the entry at a place will own, and gone says which places are joined to another.
	sets map[int][]fieldset.Set
	merged map[int]bool
}

func newUpdateMerger(o *managedFields) *updateMerger {
	a := &updateMerger{managedFields: o, indexes: make(map[[4]string]int, len(o.list)), sets: map[int][]fieldset.Set{}, merged: map[int]bool{}}
	for i := range o.list {
		a.indexes[o.list[i].entry.identity()] = i
	}
	return a
}

// merge moves what an entry owns to the entry for ancient changes of its
// version. If there is none yet, the first entry of the version becomes it. If it is
// that entry itself, because the first is of the same second, the first moves there.
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

// finish does what was noted.
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

// unionOf returns what is in any of some sets. Two halves are quicker than one after the other.
func unionOf(sets []fieldset.Set) fieldset.Set {
	if len(sets) == 1 {
		return sets[0]
	}
	half := len(sets) / 2
	return unionOf(sets[:half]).Union(unionOf(sets[half:]))
}
