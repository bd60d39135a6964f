package apply

import "slices"

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
		if err := o.joinAncient(first, entry); err != nil {
			return err
		}
		count--
	}
	return nil
}

// joinAncient moves what an entry owns to the entry for ancient changes of its
// version. If there is none yet, the first entry of the version becomes it. If it is
// that entry itself, because the first is of the same second, the first moves there.
func (o *owners) joinAncient(first, entry Entry) error {
	bucket := Entry{Manager: ancientChanges, Operation: Update, APIVersion: entry.APIVersion}
	at := o.find(bucket)
	if at < 0 {
		at = o.find(first)
		bucket.FieldsV1 = o.list[at].entry.FieldsV1
		o.list[at].entry = bucket
	}
	from := o.find(entry)
	if from == at {
		from = o.find(first)
	}
	old, err := o.fields(at)
	if err != nil {
		return err
	}
	more, err := o.fields(from)
	if err != nil {
		return err
	}
	o.list[at].become(old.Union(more))
	o.list[at].entry.Time = entry.Time
	o.list[at].changed = true
	o.list = slices.Delete(o.list, from, from+1)
	return nil
}
