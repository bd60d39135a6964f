package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// listPatch is the patch of a list with a merge key.
type listPatch struct {
	key     string
	items   []document.Value // items of the patch to merge or add
	ids     identities       // identities of the items to merge or add
	next    int              // expected position in items of the next lookup
	deleted []identity       // merge keys of items with $patch: delete
	replace bool             // the patch has {$patch: replace}: its items replace the live list
}

// readListPatch parses the patch of a list.
func (m *merger) readListPatch(key string, patch document.Value) (listPatch, error) {
	e := listPatch{key: key, items: alloc(&m.values, patch.Len())[:0], ids: m.identities(patch.Len())}
	for i, item := range patch.Items() {
		if err := e.read(item); err != nil {
			return e, underIndex(err, i)
		}
	}
	return e, nil
}

// find returns the position of the first item with an identity, -1 if there is none.
func (e *listPatch) find(id identity) int {
	i := e.ids.findNear(id, e.next)
	e.next = i + 1
	return i
}

// read parses one item.
func (e *listPatch) read(item document.Value) error {
	action, err := itemAction(item)
	if err != nil {
		return err
	}
	if action == replaceAction {
		e.replace = true
		return nil
	}
	id, err := identifyItem(e.key, item)
	if err != nil {
		return err
	}
	if action == deleteAction {
		e.deleted = append(e.deleted, id)
		return nil
	}
	e.items = append(e.items, item)
	e.ids.add(id)
	return nil
}

// checkDuplicates rejects different items with the same merge key: the second would be merged into the first.
func (e *listPatch) checkDuplicates() error {
	if e.replace || e.ids.firstDuplicate == 0 {
		return nil
	}
	for i, id := range e.ids.all {
		if e.ids.isFirst(i) {
			continue
		}
		if first := e.ids.find(id); !document.Equal(e.items[first], e.items[i]) {
			return ambiguousKeyError(e.key, "in the patch", e.items[first], e.items[i])
		}
	}
	return nil
}

// ambiguousKeyError is the error for two items with the same merge key, of which the one to merge is ambiguous.
func ambiguousKeyError(key, where string, a, b document.Value) error {
	return under(unprocessable("one item with this merge key", "two "+where+": "+show(a)+" and "+show(b),
		"replace the list as a whole, with an item {$patch: replace}, or use a JSON patch or apply"), keyStep(key, a.Get(key)))
}

// mergeKeyed merges lists with a merge key. Without $setElementOrder, the items are in the order of the patch.
func (m *merger) mergeKeyed(f *field, live, patch document.Value, order *order) (document.Value, error) {
	e, err := m.readListPatch(f.key, patch)
	if err != nil {
		return document.Value{}, err
	}
	if err := e.checkDuplicates(); err != nil {
		if document.Equal(live, patch) {
			return live, nil // the same list with duplicates, which was set where the list was absent
		}
		return document.Value{}, err
	}
	if err := order.check(e.ids.all); err != nil {
		return document.Value{}, err
	}
	if e.replace {
		result, err := m.resolveNewList(f.typ, patch)
		return liveIfEqual(live, result), err
	}
	l, err := newListBuilder(m, f.key, live)
	if err != nil {
		return document.Value{}, err
	}
	for _, id := range e.deleted {
		if position := l.find(id); position >= 0 {
			removed := l.remove(position)
			if order != nil {
				l.reusedSlots += removed
			}
		}
	}
	ordered := order.orElse(&e.ids)
	l.reserve(len(ordered.all))
	for id := range ordered.unique() {
		if err := m.mergeItem(f, &l, &e, id); err != nil {
			return document.Value{}, err
		}
	}
	if len(e.deleted) == 0 {
		return l.build(), nil // build returns the live list itself if nothing changed
	}
	return liveIfEqual(live, l.build()), nil
}

// mergeItem adds the live items with an identity to the result, merged with the item of the patch if there is one, or
// the new item.
func (m *merger) mergeItem(f *field, l *listBuilder, e *listPatch, id identity) error {
	position, edit := l.find(id), e.find(id)
	if edit < 0 {
		if position >= 0 {
			l.putWithDuplicates(position)
		}
		return nil
	}
	item := e.items[edit]
	if position < 0 {
		result, err := m.mergeMap(f.typ, document.Value{}, item)
		if err != nil {
			return under(err, keyStep(f.key, item.Get(f.key)))
		}
		l.putNew(result)
		return nil
	}
	result, err := m.mergeMap(f.typ, l.live.At(position), item)
	if err != nil {
		return under(err, keyStep(f.key, item.Get(f.key)))
	}
	if len(l.duplicates[position]) > 0 {
		return m.keepDuplicates(f, l, position, item, result)
	}
	l.put(position, result)
	return nil
}

// keepDuplicates adds live items with the same merge key to the result if the patch changes none of them. Otherwise
// it returns an error, because the item to change is ambiguous.
func (m *merger) keepDuplicates(f *field, l *listBuilder, position int, item, first document.Value) error {
	duplicates := l.duplicates[position]
	changed := !document.Same(first, l.live.At(position))
	for _, duplicate := range duplicates {
		result, err := m.mergeMap(f.typ, l.live.At(duplicate), item)
		changed = changed || err != nil || !document.Same(result, l.live.At(duplicate))
	}
	if changed {
		return ambiguousKeyError(f.key, "in the object", l.live.At(position), l.live.At(duplicates[0]))
	}
	l.putWithDuplicates(position)
	return nil
}
