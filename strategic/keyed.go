package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// listPatch is the parsed patch of a list with a merge key.
type listPatch struct {
	key     string
	items   []document.Value // items of the patch to merge or add
	ids     identities       // identities of the items to merge or add
	next    int              // the position in items that the next lookup compares first
	deleted []identity       // merge keys of items with $patch: delete
	replace bool             // the patch contains {$patch: replace}, so its items replace the live list
}

// readListPatch parses the patch of a list with the given merge key.
func (m *merger) readListPatch(key string, patch document.Value) (listPatch, error) {
	e := listPatch{key: key, items: alloc(&m.values, patch.Len())[:0], ids: m.identities(patch.Len())}
	for i, item := range patch.Items() {
		if err := e.read(item); err != nil {
			return e, underIndex(err, i)
		}
	}
	return e, nil
}

// find returns the position in items of the first item with the given identity, -1 if there is none.
func (e *listPatch) find(id identity) int {
	i := e.ids.findNear(id, e.next)
	e.next = i + 1
	return i
}

// read parses one item of the patch.
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

// checkDuplicates returns an error if two different items of the patch have the same merge key, because the second one
// would be merged into the first.
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

// ambiguousKeyError returns the error for two items with the same merge key; a patch can't address one of them.
func ambiguousKeyError(key, where string, a, b document.Value) error {
	return under(unprocessable("one item with this merge key", "two "+where+": "+show(a)+" and "+show(b),
		"replace the list as a whole, with an item {$patch: replace}, or use a JSON patch or apply"), keyStep(key, a.Get(key)))
}

// mergeKeyed merges the patch of a list with a merge key into the live list. Without $setElementOrder, the items of the
// patch determine the order.
func (m *merger) mergeKeyed(f *field, live, patch document.Value, order *order) (document.Value, error) {
	e, err := m.readListPatch(f.key, patch)
	if err != nil {
		return document.Value{}, err
	}
	if err := e.checkDuplicates(); err != nil {
		if document.Equal(live, patch) {
			return live, nil // the patch is the live list itself, including its duplicates, so nothing changes
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

// mergeItem adds the item with the given identity to the result: the live item, merged with the item of the patch if
// there is one, or the new item of the patch. A live item without an item in the patch is added with its duplicates.
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

// keepDuplicates adds the live items with the same merge key to the result if the patch item changes none of them.
// Otherwise it returns an error, because the item to change is ambiguous. first is the result of merging the patch item
// into the first of them.
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
