package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// diffList makes the patch of a list that is merged, with its directives.
func (d *differ) diffList(f *field, name string, v versions) error {
	if equalText(v.current, v.modified) || v.current.Len()+v.modified.Len() == 0 {
		return nil
	}
	if rows, ok := d.matchShort(f.key, v); ok {
		return d.diffKeyed(f, name, v, &rows)
	}
	kind, err := itemKind(v.current, v.modified)
	if err != nil {
		return err
	}
	if kind == document.Map && f.key == "" {
		return malformed("strings, numbers or booleans as items", "maps",
			"this list has no merge key, so that maps in it can't be told apart")
	}
	rows, err := d.matchItems(f.key, v)
	if err != nil {
		return err
	}
	if f.key == "" {
		d.diffScalars(name, v, &rows)
		return nil
	}
	if err := rows.duplicateError(f.key, v); err != nil {
		return d.diffDuplicates(f, name, v, &rows, err)
	}
	return d.diffKeyed(f, name, v, &rows)
}

// itemMatches are the identities of the items of a list's versions, and which of them are the same.
type itemMatches struct {
	original, current, modified identities
	// before and now are where the modified items are in the original and in the current list;
	// -1 where they are not.
	inOriginal, inCurrent []int
	// gone are the places of the original items that the author no longer wants and that are
	// there; of items with the same identity, the first.
	removed []int
}

func (d *differ) matchItems(key string, v versions) (r itemMatches, err error) {
	if r.current, err = d.identify(key, v.current); err != nil {
		return r, err
	}
	if r.modified, err = d.identify(key, v.modified); err != nil {
		return r, err
	}
	if r.original = r.current; !v.twoWay() {
		if r.original, err = d.identify(key, v.original); err != nil {
			return r, err
		}
	}
	r.inCurrent = d.findPositions(&r.modified, &r.current)
	if r.inOriginal = r.inCurrent; !v.twoWay() {
		r.inOriginal = d.findPositions(&r.modified, &r.original)
	}
	r.removed = alloc(&d.positions, len(r.original.all))[:0]
	for i, isMatched := range d.markPositions(r.inOriginal, len(r.original.all)) {
		if !isMatched && r.original.isFirst(i) && r.current.findNear(r.original.all[i], i) >= 0 {
			r.removed = append(r.removed, i)
		}
	}
	return r, nil
}

// markPositions returns which items of a list of so many are in one of these places; of items with the
// same identity, the first.
func (d *differ) markPositions(positions []int, count int) []bool {
	marked := d.flags(count)
	for _, position := range positions {
		if position >= 0 {
			marked[position] = true
		}
	}
	return marked
}

// identify returns the identities of the items of a list.
func (d *differ) identify(key string, list document.Value) (identities, error) {
	ids := d.identities(list.Len())
	for i, item := range list.Items() {
		id, err := identifyItem(key, item)
		if err != nil {
			return ids, underIndex(err, i)
		}
		ids.add(id)
	}
	return ids, nil
}

// findPositions returns where the items of one list are in another.
func (d *differ) findPositions(items, in *identities) []int {
	positions := alloc(&d.positions, len(items.all))
	expected := 0
	for i, id := range items.all {
		positions[i] = in.findNear(id, expected)
		expected = positions[i] + 1
	}
	return positions
}

// reordered reports whether items that are there come in another order than the author's.
func (r *itemMatches) reordered() bool {
	last := -1
	for _, position := range r.inCurrent {
		if position < 0 {
			continue
		}
		if position < last {
			return true
		}
		last = position
	}
	return false
}

func (d *differ) diffScalars(name string, v versions, r *itemMatches) {
	mark := d.build.Mark()
	for i, position := range r.inCurrent {
		if position < 0 && r.modified.isFirst(i) {
			d.build.Push("", v.modified.At(i))
		}
	}
	added := d.build.List(mark)
	for _, i := range r.removed {
		d.build.Push("", v.original.At(i))
	}
	removed := d.build.List(mark)
	if added.Len() > 0 {
		d.build.Push(name, added)
	}
	if removed.Len() > 0 {
		d.build.Push(removeDirective+"/"+name, removed)
	}
	if v.modified.Len() > 0 && (added.Len()+removed.Len() > 0 || r.reordered()) {
		d.build.Push(orderDirective+"/"+name, v.modified)
	}
}

func (d *differ) diffKeyed(f *field, name string, v versions, r *itemMatches) error {
	mark := d.build.Mark()
	for i, position := range r.inCurrent {
		item := v.modified.At(i)
		if position < 0 {
			d.build.Push("", item)
			continue
		}
		part := versions{current: v.current.At(position), modified: item}
		if before := r.inOriginal[i]; before >= 0 {
			part.original = v.original.At(before)
		}
		if err := d.diffItem(f, part); err != nil {
			return under(err, keyStep(f.key, item.Get(f.key)))
		}
	}
	for _, i := range r.removed {
		item := d.build.Mark()
		d.build.Push(patchDirective, deleteValue)
		d.build.Push(f.key, v.original.At(i).Get(f.key))
		d.build.Push("", d.build.SortedMap(item))
	}
	items := d.build.List(mark)
	if items.Len() > 0 {
		d.build.Push(name, items)
	}
	// What is added to nothing needs no order: its own counts.
	if v.current.Len() > 0 && v.modified.Len() > 0 && (items.Len() > 0 || r.reordered()) {
		d.build.Push(orderDirective+"/"+name, d.keyMaps(f.key, v.modified))
	}
	return nil
}

var deleteValue = document.NewString("delete")

// diffItem adds the patch of an item that is there, if it changes.
func (d *differ) diffItem(f *field, v versions) error {
	if !f.retainKeys && d.isFlatDiff(v) {
		d.build.Push("", v.modified)
		return nil
	}
	mark := d.build.Mark()
	if err := d.diffFields(f.typ, f.retainKeys, v); err != nil || d.build.Pushed(mark) == 0 {
		return err
	}
	d.build.Push(f.key, v.modified.Get(f.key))
	d.build.Push("", d.build.SortedMap(mark))
	return nil
}

// keyMaps returns a list of maps of which only the key is left.
func (d *differ) keyMaps(key string, list document.Value) document.Value {
	mark := d.build.Mark()
	for _, item := range list.Items() {
		d.build.Push("", d.build.MapOf(key, item.Get(key)))
	}
	return d.build.List(mark)
}
