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

// owner is an entry with its field set, which is only read when it is needed.
type owner struct {
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
	known, rewrite, changed bool
}

// owners are the entries of an object during one operation.
type owners struct {
	list   []owner
	engine *Engine
	// dropped are the entries that were read and are of versions that are gone.
	dropped []Entry
	// kept are the entries of which nobody knows what they should have lost.
	kept []Entry
	// fewer says that another entry that was read is not in the list.
	fewer bool
}

// BeforeFirstApply is the manager that owns the fields that an object had before managedFields recorded it.
const BeforeFirstApply = "before-first-apply"

// readOwners reads the entries of an object that is about to be applied to. If
// nobody owns anything yet, what is there gets an owner, so that the applier can't
// change it unawares.
func (e *Engine) readOwners(live Object, t *schema.Type, r Request) (*owners, error) {
	o, err := e.readEntries(live.Entries)
	if err != nil || len(live.Entries) > 0 || live.Document.IsAbsent() {
		return o, err
	}
	empty := r.Empty
	if empty.IsAbsent() {
		empty = document.NewMap()
	}
	all := e.compare(t, empty, live.Document).without(e.options.Reset[r.Version])
	before := Entry{Manager: BeforeFirstApply, Operation: Update, APIVersion: r.Version, Subresource: r.Subresource}
	return o, o.join(before, all.set().Difference(neverOwned), r.Time)
}

// readEntries lists the owners, with their sets fitted to the topologies of today.
// Entries of versions that are gone are dropped.
func (e *Engine) readEntries(entries []Entry) (*owners, error) {
	o := &owners{engine: e, list: make([]owner, 0, len(entries)+1)}
	places := map[[4]string]int(nil)
	if len(entries) > fewEntries {
		places = make(map[[4]string]int, len(entries))
	}
	for i, entry := range entries {
		t, ok := e.options.Versions.Type(entry.APIVersion)
		if !ok {
			o.dropped = append(o.dropped, entry)
			continue
		}
		one := owner{entry: entry, index: i}
		if err := e.fit(&one, t); err != nil {
			return nil, err
		}
		if same := o.findAmong(places, entry); same >= 0 {
			o.list[same] = one
			o.fewer = true
			continue
		}
		o.list = append(o.list, one)
	}
	return o, nil
}

// fit makes sure that an owner's set can be read and fits its topology. A set that
// is known to do so, not to be empty, and to be written as Kubernetes writes it, is not
// read.
func (e *Engine) fit(one *owner, t *schema.Type) error {
	hash := e.fitting.hash(one.entry.APIVersion, one.entry.FieldsV1)
	if e.fitting.has(hash) && !e.options.plain {
		return nil
	}
	if err := one.read(); err != nil {
		return err
	}
	fitted := reconcile(one.set, t)
	if !fitted.Equal(one.set) {
		one.become(fitted)
	} else if one.owns() && one.set.FieldsV1() == one.entry.FieldsV1 {
		e.fitting.add(hash)
	}
	return nil
}

// read makes an owner's set known.
func (o *owner) read() (err error) {
	if o.known {
		return nil
	}
	if o.set, err = o.entry.Fields(); err != nil {
		return &EntryError{Index: o.index, Problem: "expected a field set", Err: err}
	}
	o.known = true
	return nil
}

// lacking returns what an owner has and another has not.
func (o *owner) lacking(other *owner) (fieldset.Set, error) {
	if !o.known && !other.known {
		if lacking, ok := fastset.Difference(o.entry.FieldsV1, other.entry.FieldsV1); ok {
			return lacking, nil
		}
	}
	if err := cmp.Or(o.read(), other.read()); err != nil {
		return fieldset.Set{}, err
	}
	return o.set.Difference(other.set), nil
}

// along returns what an owner's set says on the way to some paths; it may say more. It is
// valid as long as the arena is not reset.
func (o *owner) along(arena *fastset.Arena, paths fieldset.Set) (fieldset.Set, error) {
	if !o.known {
		if along, ok := arena.Project(o.entry.FieldsV1, paths); ok {
			return along, nil
		}
	}
	err := o.read()
	return o.set, err
}

// fields returns what an owner owns.
func (o *owners) fields(i int) (fieldset.Set, error) {
	err := o.list[i].read()
	return o.list[i].set, err
}

// find returns the place of the entry of the same manager, -1 if there is none.
func (o *owners) find(entry Entry) int {
	return slices.IndexFunc(o.list, func(other owner) bool { return other.entry.sameManager(entry) })
}

// fewEntries is how many entries are looked through for one.
const fewEntries = 16

// findAmong is find for whoever adds one entry after the other; with places it does not look
// through all of them, and notes where this one will be.
func (o *owners) findAmong(places map[[4]string]int, entry Entry) int {
	if places == nil {
		return o.find(entry)
	}
	who := entry.identity()
	if same, ok := places[who]; ok {
		return same
	}
	places[who] = len(o.list)
	return -1
}

// byVersion returns what all owners own, by version.
func (o *owners) byVersion() (map[string][]fieldset.Set, error) {
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

// put makes what an applier intends all that it owns. It returns the manager's
// place, and what it owned before, nil if that was nothing or the same.
func (o *owners) put(mine Entry, in intent) (me int, last *owner) {
	mine.FieldsV1 = in.text
	if me = o.find(mine); me < 0 {
		o.list = append(o.list, owner{entry: mine, changed: in.text != noFields})
		return len(o.list) - 1, nil
	}
	one := &o.list[me]
	sameVersion := one.entry.APIVersion == mine.APIVersion
	if sameVersion && one.entry.FieldsV1 == in.text && !o.engine.options.plain {
		return me, nil
	}
	before := *one
	if !one.known {
		// Both are written as Kubernetes writes them: other texts, other sets.
		one.entry.APIVersion, one.entry.FieldsV1, one.changed = mine.APIVersion, in.text, true
		return me, &before
	}
	one.set = in.fields()
	if !sameVersion || !one.set.Equal(before.set) {
		one.entry.APIVersion, one.entry.FieldsV1 = mine.APIVersion, in.text
		one.rewrite, one.changed = false, true
	}
	return me, &before
}

// nobody stands for the place of an owner that there is not.
const nobody = -1

// take makes all owners but one lose what changed. What has a new value, or was
// unset, is a conflict: it must be forced.
func (o *owners) take(c *changesAt, except int, r Request) error {
	if c.none {
		return nil
	}
	var conflicts []conflicting
	losses := make([]fieldset.Set, len(o.list))
	for i := range o.list {
		if i == except {
			continue
		}
		changes, err := c.at(o.list[i].entry.APIVersion)
		switch {
		case isGone(err):
			losses[i], err = o.drop(i)
		case except == nobody && errors.Is(err, ErrConversionUnavailable):
			o.kept, err = append(o.kept, o.list[i].entry), nil
		case err == nil:
			var minded fieldset.Set
			if minded, losses[i], err = o.loss(i, changes); !minded.IsEmpty() {
				conflicts = append(conflicts, conflicting{o.list[i].entry, minded, changes})
			}
		}
		if err != nil {
			return err
		}
	}
	if err := checkConflicts(conflicts, r); err != nil {
		return err
	}
	return o.lose(losses)
}

// drop notes that the version of an owner is gone. It loses all that it has.
func (o *owners) drop(i int) (all fieldset.Set, err error) {
	o.dropped = append(o.dropped, o.list[i].entry)
	return o.fields(i)
}

// loss returns what an owner has of what changed, and which part of that it minds.
func (o *owners) loss(i int, changes changesThere) (minded, all fieldset.Set, err error) {
	if minded, err = o.common(i, changes.minded); err != nil {
		return minded, all, err
	}
	gone, err := o.common(i, changes.counting.Removed)
	return minded, minded.Union(gone), err
}

// lose takes from each owner what it loses.
func (o *owners) lose(losses []fieldset.Set) error {
	for i, loss := range losses {
		if loss.IsEmpty() {
			continue
		}
		set, err := o.fields(i)
		if err != nil {
			return err
		}
		o.list[i].become(set.Difference(loss))
	}
	return nil
}

// common returns what of the given fields an owner has. Most owners have nothing to
// do with most changes: that shows in the text of their set, which need not be read
// then.
func (o *owners) common(i int, fields fieldset.Set) (fieldset.Set, error) {
	if fields.IsEmpty() {
		return fieldset.Set{}, nil
	}
	if !o.list[i].known && !o.engine.options.plain {
		if common, ok := fastset.Intersection(o.list[i].entry.FieldsV1, fields); ok {
			return common, nil
		}
	}
	set, err := o.fields(i)
	return set.Intersection(fields), err
}

// join adds to what a manager owns. A manager that gets nothing is left as it is.
func (o *owners) join(mine Entry, set fieldset.Set, now time.Time) error {
	if set.IsEmpty() {
		return nil
	}
	me := o.find(mine)
	if me < 0 {
		mine.Time = now.UTC().Truncate(time.Second)
		o.list = append(o.list, owner{entry: mine, set: set, known: true, rewrite: true, changed: true})
		return nil
	}
	old, err := o.fields(me)
	if err != nil {
		return err
	}
	o.list[me].become(old.Union(set))
	o.touch(me, now)
	return nil
}

// become gives an owner another set.
func (o *owner) become(set fieldset.Set) {
	if !set.Equal(o.set) {
		o.set, o.rewrite, o.changed = set, true, true
	}
}

// touch notes that a manager changed something.
func (o *owners) touch(i int, now time.Time) {
	now = now.UTC().Truncate(time.Second)
	if !o.list[i].entry.Time.Equal(now) {
		o.list[i].entry.Time = now
		o.list[i].changed = true
	}
}

// noFields is the text of the empty set.
const noFields = "{}"

// owns reports whether an owner has anything.
func (o *owner) owns() bool {
	if o.known {
		return !o.set.IsEmpty()
	}
	return o.entry.FieldsV1 != noFields
}

// result is the outcome of the operation with the given document.
func (o *owners) result(live Object, doc document.Value, c *changesAt) Result {
	unchanged := c.none && !live.Document.IsAbsent()
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

func (o *owners) anyChanged() bool {
	return o.fewer || len(o.dropped) > 0 || slices.ContainsFunc(o.list, func(one owner) bool { return one.changed })
}

// entries returns the owners as entries, those that were read if nothing changed.
func (o *owners) entries(live []Entry) []Entry {
	if !o.anyChanged() {
		return live
	}
	entries := make([]Entry, 0, len(o.list))
	for _, one := range o.list {
		if !one.owns() {
			continue
		}
		if one.rewrite {
			one.entry.FieldsV1 = one.set.FieldsV1()
		}
		entries = append(entries, one.entry)
	}
	SortEntries(entries)
	return entries
}
