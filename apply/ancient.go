package apply

import (
	"slices"

	"github.com/cadastre/cadastre/fieldset"
)

const (
	// defaultMaxUpdateEntries is how many Update entries Kubernetes keeps.
	defaultMaxUpdateEntries = 10
	// ancientChanges is the manager that the oldest Update entries are joined
	// under.
	ancientChanges = "ancient-changes"
)

// joinOldest joins the oldest Update entries of each version until no more than most are
// left, or nothing can be joined.
func (o *owners) joinOldest(most int) error {
	o.list = slices.DeleteFunc(o.list, func(one owner) bool {
		o.fewer = o.fewer || !one.owns()
		return !one.owns()
	})
	var updaters []Entry
	for _, one := range o.list {
		if one.entry.Operation == Update {
			updaters = append(updaters, one.entry)
		}
	}
	if len(updaters) <= most {
		return nil
	}
	slices.SortStableFunc(updaters, compareEntries)
	a := newAncient(o)
	firsts := map[string]Entry{}
	count := len(updaters)
	for _, entry := range updaters {
		if count <= most {
			break
		}
		first, ok := firsts[entry.APIVersion]
		if !ok {
			firsts[entry.APIVersion] = entry
			continue
		}
		if err := a.join(first, entry); err != nil {
			return err
		}
		count--
	}
	a.finish()
	return nil
}

// ancient joins entries. A body has room for thousands of them, so that each is looked at once.
type ancient struct {
	*owners
	places map[[4]string]int // of the entries, in the list
	// sets are what the entry at a place will own, and gone says which places are joined to another.
	sets map[int][]fieldset.Set
	gone map[int]bool
}

func newAncient(o *owners) *ancient {
	a := &ancient{owners: o, places: make(map[[4]string]int, len(o.list)), sets: map[int][]fieldset.Set{}, gone: map[int]bool{}}
	for i := range o.list {
		a.places[o.list[i].entry.identity()] = i
	}
	return a
}

// join moves what an entry owns to the entry for ancient changes of its
// version. If there is none yet, the first entry of the version becomes it. If it is
// that entry itself, because the first is of the same second, the first moves there.
func (a *ancient) join(first, entry Entry) error {
	bucket := Entry{Manager: ancientChanges, Operation: Update, APIVersion: entry.APIVersion}
	at, ok := a.places[bucket.identity()]
	if !ok {
		at = a.places[first.identity()]
		bucket.FieldsV1 = a.list[at].entry.FieldsV1
		a.list[at].entry = bucket
		a.places[bucket.identity()] = at
	}
	from := a.places[entry.identity()]
	if from == at {
		from = a.places[first.identity()]
	}
	for _, i := range []int{at, from} {
		if i == at && a.sets[at] != nil {
			continue
		}
		set, err := a.fields(i)
		if err != nil {
			return err
		}
		a.sets[at] = append(a.sets[at], set)
	}
	a.list[at].entry.Time = entry.Time
	a.gone[from] = true
	return nil
}

// finish does what was noted.
func (a *ancient) finish() {
	for at, sets := range a.sets {
		a.list[at].become(unionOf(sets))
		a.list[at].changed = true
	}
	i := -1
	a.list = slices.DeleteFunc(a.list, func(owner) bool {
		i++
		return a.gone[i]
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
