package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// diffList pushes the patch of a list with the patch strategy merge, and the list directives that it needs.
func (d *differ) diffList(f *field, name string, v versions) error {
	if equalText(v.current, v.modified) || v.current.Len()+v.modified.Len() == 0 {
		return nil
	}
	if matches, ok := d.matchShort(f.key, v); ok {
		return d.diffKeyed(f, name, v, &matches)
	}
	kind, err := itemKind(v.current, v.modified)
	if err != nil {
		return err
	}
	if kind == document.Map && f.key == "" {
		return malformed("strings, numbers or booleans as items", "maps",
			"the list has no merge key to identify maps")
	}
	matches, err := d.matchItems(f.key, v)
	if err != nil {
		return err
	}
	if f.key == "" {
		d.diffScalars(name, v, &matches)
		return nil
	}
	if err := matches.duplicateError(f.key, v); err != nil {
		return d.diffDuplicates(f, name, v, &matches, err)
	}
	return d.diffKeyed(f, name, v, &matches)
}

// itemMatches holds the identities of the items of a list in all three versions (original, current and modified), and
// the positions of corresponding items.
type itemMatches struct {
	original, current, modified identities
	// inOriginal and inCurrent are the positions of the items of modified in original and in current, -1 for items that
	// are not in that list.
	inOriginal, inCurrent []int
	// removed are the positions in original of the items that are in current but not in modified. Of several items with
	// the same identity, it contains only the position of the first item.
	removed []int
}

// matchItems identifies the items of all three versions of a list and matches them.
func (d *differ) matchItems(key string, v versions) (r itemMatches, err error) {
	if r.current, err = d.identify(key, v.current); err != nil {
		return r, err
	}
	if r.modified, err = d.identify(key, v.modified); err != nil {
		return r, err
	}
	if r.original = r.current; !v.isTwoWay() {
		if r.original, err = d.identify(key, v.original); err != nil {
			return r, err
		}
	}
	r.inCurrent = d.findPositions(&r.modified, &r.current)
	if r.inOriginal = r.inCurrent; !v.isTwoWay() {
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

// markPositions returns a slice of count flags. The flags at the given positions are true; negative positions are
// ignored.
func (d *differ) markPositions(positions []int, count int) []bool {
	marked := d.flags(count)
	for _, position := range positions {
		if position >= 0 {
			marked[position] = true
		}
	}
	return marked
}

// identify returns the identities of the items of list, or an error if an item has no identity.
func (d *differ) identify(key string, list document.Value) (identities, error) {
	ids := d.identities(list.Len())
	for i, item := range list.Items() {
		id, err := identifyItem(key, item)
		if err != nil {
			return ids, prefixIndex(err, i)
		}
		ids.add(id)
	}
	return ids, nil
}

// findPositions returns, for each of the items, its position in list, or -1 if list does not contain it.
func (d *differ) findPositions(items, list *identities) []int {
	positions := alloc(&d.positions, len(items.all))
	expected := 0
	for i, id := range items.all {
		positions[i] = list.findNear(id, expected)
		expected = positions[i] + 1
	}
	return positions
}

// isReordered reports whether the items that are in both modified and current have different orders in these lists.
func (m *itemMatches) isReordered() bool {
	last := -1
	for _, position := range m.inCurrent {
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

// diffScalars pushes the patch of a list of scalars: the added items, $deleteFromPrimitiveList for the removed items,
// and $setElementOrder.
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
	if v.modified.Len() > 0 && (added.Len()+removed.Len() > 0 || r.isReordered()) {
		d.build.Push(orderDirective+"/"+name, v.modified)
	}
}

// diffKeyed pushes the patch of a list with a merge key: the added and changed items, items with $patch: delete for the
// removed ones, and $setElementOrder.
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
			return prefixPath(err, keyStep(f.key, item.Get(f.key)))
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
	// If the current list is empty, the order of the items in the patch determines the result, and no directive is
	// needed.
	if v.current.Len() > 0 && v.modified.Len() > 0 && (items.Len() > 0 || r.isReordered()) {
		d.build.Push(orderDirective+"/"+name, d.keyMaps(f.key, v.modified))
	}
	return nil
}

var deleteValue = document.NewString("delete")

// diffItem pushes the patch of an item that is in both the modified and the current list, if the item changes.
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

// keyMaps returns a list that contains, for each item, a map with only its merge key. It is the value of
// $setElementOrder.
func (d *differ) keyMaps(key string, list document.Value) document.Value {
	mark := d.build.Mark()
	for _, item := range list.Items() {
		d.build.Push("", d.build.MapOf(key, item.Get(key)))
	}
	return d.build.List(mark)
}
