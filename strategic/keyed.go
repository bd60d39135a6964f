package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// edits are what a list of a patch says about a keyed list.
type edits struct {
	key     string
	items   []document.Value // merged or added
	ids     identities       // of the items
	next    int              // the item that is expected to be asked for next
	gone    []identity       // deleted
	replace bool             // the items take the place of all others
}

func (m *merger) readEdits(key string, patch document.Value) (edits, error) {
	e := edits{key: key, items: room(&m.values, patch.Len())[:0], ids: m.identities(patch.Len())}
	for i, item := range patch.Items() {
		if err := e.read(item); err != nil {
			return e, underIndex(err, i)
		}
	}
	return e, nil
}

// find returns the first item with an identity, or -1.
func (e *edits) find(id identity) int {
	i := e.ids.near(id, e.next)
	e.next = i + 1
	return i
}

func (e *edits) read(item document.Value) error {
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
		e.gone = append(e.gone, id)
		return nil
	}
	e.items = append(e.items, item)
	e.ids.add(id)
	return nil
}

// checkTwins refuses items with the same key: the second would be merged into the first. If they are
// equal, that changes nothing.
func (e *edits) checkTwins() error {
	if e.replace || e.ids.twin == 0 {
		return nil
	}
	for i, id := range e.ids.all {
		if e.ids.isFirst(i) {
			continue
		}
		if first := e.ids.find(id); !document.Equal(e.items[first], e.items[i]) {
			return ambiguous(e.key, "in the patch", e.items[first], e.items[i])
		}
	}
	return nil
}

// ambiguous is the error for a key that two items have. Merging either would be a guess.
func ambiguous(key, where string, a, b document.Value) error {
	return under(unprocessable("one item with this merge key", "two "+where+": "+show(a)+" and "+show(b),
		"replace the list as a whole, with an item {$patch: replace}, or use a JSON patch or apply"), keyStep(key, a.Get(key)))
}

// mergeKeyed merges lists of maps whose items are told apart by a key. Without an order, that
// of the patch counts.
func (m *merger) mergeKeyed(f *field, live, patch document.Value, order *order) (document.Value, error) {
	e, err := m.readEdits(f.key, patch)
	if err != nil {
		return document.Value{}, err
	}
	if err := e.checkTwins(); err != nil {
		if document.Equal(live, patch) {
			return live, nil // a list with twins that was set where there was none, set again
		}
		return document.Value{}, err
	}
	if err := order.check(e.ids.all); err != nil {
		return document.Value{}, err
	}
	if e.replace {
		result, err := m.settled(f.typ, patch)
		return keepEqual(live, result), err
	}
	l, err := arrange(m, f.key, live)
	if err != nil {
		return document.Value{}, err
	}
	for _, id := range e.gone {
		if place := l.find(id); place >= 0 {
			gone := l.drop(place)
			if order != nil {
				l.room += gone
			}
		}
	}
	named := order.or(&e.ids)
	l.expect(len(named.all))
	for id := range named.each() {
		if err := m.mergeItem(f, &l, &e, id); err != nil {
			return document.Value{}, err
		}
	}
	if len(e.gone) == 0 {
		return l.finish(), nil // which is the live list, or differs
	}
	return keepEqual(live, l.finish()), nil
}

// mergeItem gives the items with an identity their place, merged if the patch has one.
func (m *merger) mergeItem(f *field, l *arrangement, e *edits, id identity) error {
	place, edit := l.find(id), e.find(id)
	if edit < 0 {
		if place >= 0 {
			l.putAll(place)
		}
		return nil
	}
	item := e.items[edit]
	if place < 0 {
		result, err := m.mergeMap(f.typ, document.Value{}, item)
		if err != nil {
			return under(err, keyStep(f.key, item.Get(f.key)))
		}
		l.putNew(result)
		return nil
	}
	result, err := m.mergeMap(f.typ, l.live.At(place), item)
	if err != nil {
		return under(err, keyStep(f.key, item.Get(f.key)))
	}
	if len(l.twins[place]) > 0 {
		return m.leaveTwins(f, l, place, item, result)
	}
	l.put(place, result)
	return nil
}

// leaveTwins gives twins their place if the patch changes none of them. Which one to change would be a
// guess.
func (m *merger) leaveTwins(f *field, l *arrangement, place int, item, first document.Value) error {
	twins := l.twins[place]
	changed := !document.Same(first, l.live.At(place))
	for _, twin := range twins {
		result, err := m.mergeMap(f.typ, l.live.At(twin), item)
		changed = changed || err != nil || !document.Same(result, l.live.At(twin))
	}
	if changed {
		return ambiguous(f.key, "in the object", l.live.At(place), l.live.At(twins[0]))
	}
	l.putAll(place)
	return nil
}
