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
			return e, prefixIndex(err, i)
		}
	}
	return e, nil
}

// find returns the position in items of the first item with the given identity, -1 if there is none.
func (p *listPatch) find(id identity) int {
	i := p.ids.findNear(id, p.next)
	p.next = i + 1
	return i
}

// read parses one item of the patch.
func (p *listPatch) read(item document.Value) error {
	action, err := itemAction(item)
	if err != nil {
		return err
	}
	if action == replaceAction {
		p.replace = true
		return nil
	}
	id, err := identifyItem(p.key, item)
	if err != nil {
		return err
	}
	if action == deleteAction {
		p.deleted = append(p.deleted, id)
		return nil
	}
	p.items = append(p.items, item)
	p.ids.add(id)
	return nil
}

// checkDuplicates returns an error if two different items of the patch have the same merge key, because the second of
// these items would be merged into the first.
func (p *listPatch) checkDuplicates() error {
	if p.replace || p.ids.firstDuplicate == 0 {
		return nil
	}
	for i, id := range p.ids.all {
		if p.ids.isFirst(i) {
			continue
		}
		if first := p.ids.find(id); !document.Equal(p.items[first], p.items[i]) {
			return ambiguousKeyError(p.key, "in the patch", p.items[first], p.items[i])
		}
	}
	return nil
}

// ambiguousKeyError returns the error for two items, a and b, with the same merge key: a patch can't address only one
// of them.
func ambiguousKeyError(key, where string, a, b document.Value) error {
	return prefixPath(unprocessable("one item with this merge key", "two "+where+": "+show(a)+" and "+show(b),
		"replace the list as a whole, with an item {$patch: replace}, or use a JSON patch or apply"), keyStep(key, a.Get(key)))
}

// mergeKeyed merges patch into the list live, which has a merge key. If order is nil, the items of patch determine the
// order of the result.
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
			return prefixPath(err, keyStep(f.key, item.Get(f.key)))
		}
		l.putNew(result)
		return nil
	}
	result, err := m.mergeMap(f.typ, l.live.At(position), item)
	if err != nil {
		return prefixPath(err, keyStep(f.key, item.Get(f.key)))
	}
	if len(l.duplicates[position]) > 0 {
		return m.keepDuplicates(f, l, position, item, result)
	}
	l.put(position, result)
	return nil
}

// keepDuplicates adds the live item at the given position and its duplicates to the result if the patch item changes
// none of these items. If it changes any of them, keepDuplicates returns an error, because the item to change is
// ambiguous. first is the result of merging the patch item into the first duplicate.
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
