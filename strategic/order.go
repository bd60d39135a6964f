package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// How a merged list is ordered. Items that the patch names, in its list or in a directive
// $setElementOrder, follow each other in that order; all others follow each other as in the
// live list. The two rows are then put together: an item that the patch does not name comes
// before one that it names if it did so in the live list, and as late as possible otherwise.
// With a directive, new items are taken for the last of the live list, as many as were deleted
// from it: that is how Kubernetes does it, by reusing their memory.

// order is what a directive $setElementOrder says; nil if there is none.
type order struct{ ids identities }

func (m *merger) readOrder(key string, list document.Value) (*order, error) {
	if list.IsAbsent() {
		return nil, nil
	}
	o := &order{ids: m.identities(list.Len())}
	for i, item := range list.Items() {
		id, err := identifyItem(key, item)
		if err != nil {
			return nil, underIndex(err, i)
		}
		o.ids.add(id)
	}
	return o, nil
}

// check refuses items that the order does not name, or that come in another one.
func (o *order) check(items []identity) error {
	if o == nil {
		return nil
	}
	next := 0
	for _, id := range o.ids.all {
		if next < len(items) && id == items[next] {
			next++
		}
	}
	if next == len(items) {
		return nil
	}
	return malformed("the items in the order that "+orderDirective+" gives, which has to name all of them",
		clip(items[next].text)+" out of order or not named", "name the items of the patch in both places in the same order")
}

// checkList is check for a list that is not merged.
func (o *order) checkList(key string, list document.Value) error {
	if o == nil {
		return nil
	}
	var ids []identity
	for i, item := range list.Items() {
		if action, err := itemAction(item); err != nil || action != mergeAction {
			continue // it names no item of the result
		}
		id, err := identifyItem(key, item)
		if err != nil {
			return underIndex(err, i)
		}
		ids = append(ids, id)
	}
	return o.check(ids)
}

// or returns what the order names, or the given identities if there is no order.
func (o *order) or(other *identities) *identities {
	if o == nil {
		return other
	}
	return &o.ids
}

// arrangement is a live list whose items get new places, values and neighbours.
type arrangement struct {
	m     *merger
	live  document.Value
	ids   identities    // of the live items
	twins map[int][]int // by the first place of an identity, the others that have it
	done  []bool        // live items that are named, or gone
	named []namedItem
	room  int // how many new items are taken for live ones
	next  int // the live item that is expected to be asked for next
}

// namedItem is an item that the patch names, with its place in the live list, or -1.
type namedItem struct {
	value document.Value
	place int
}

func arrange(m *merger, key string, live document.Value) (arrangement, error) {
	l := arrangement{m: m, live: live, ids: m.identities(live.Len()), done: m.flags(live.Len())}
	for i, item := range live.Items() {
		id, err := identifyItem(key, item)
		if err != nil {
			return l, underIndex(unprocessable("the object's items to have the merge key "+key, show(item),
				"replace the list as a whole, with a JSON patch"), i)
		}
		if first := l.ids.add(id); first != i {
			if l.twins == nil {
				l.twins = map[int][]int{}
			}
			l.twins[first] = append(l.twins[first], i)
		}
	}
	return l, nil
}

// find returns the first place of an identity among the live items that are left, or -1.
func (l *arrangement) find(id identity) int {
	place := l.ids.near(id, l.next)
	l.next = place + 1
	if place >= 0 && !l.done[place] {
		return place
	}
	return -1
}

// expect makes room for so many named items.
func (l *arrangement) expect(count int) { l.named = room(&l.m.named, count)[:0] }

// put gives a live item the next place in the row of those that are named, with what became
// of it.
func (l *arrangement) put(place int, value document.Value) {
	l.done[place] = true
	l.named = append(l.named, namedItem{value, place})
}

// putNew does that for an item that is new.
func (l *arrangement) putNew(value document.Value) {
	place := -1
	if l.room > 0 {
		l.room--
		place = l.live.Len()
	}
	l.named = append(l.named, namedItem{value, place})
}

// putAll puts a live item and its twins.
func (l *arrangement) putAll(place int) {
	l.put(place, l.live.At(place))
	for _, twin := range l.twins[place] {
		if !l.done[twin] {
			l.put(twin, l.live.At(twin))
		}
	}
}

// drop takes a live item and its twins away, and returns how many those are.
func (l *arrangement) drop(place int) int {
	l.done[place] = true
	for _, twin := range l.twins[place] {
		l.done[twin] = true
	}
	return 1 + len(l.twins[place])
}

// finish puts the two rows together.
func (l *arrangement) finish() document.Value {
	build := &l.m.build
	mark := build.Mark()
	changed := false
	push := func(value document.Value) {
		at := build.Pushed(mark)
		changed = changed || at >= l.live.Len() || !document.Same(value, l.live.At(at))
		build.Push("", value)
	}
	named := l.named
	for place := range l.live.Len() {
		if l.done[place] {
			continue
		}
		for len(named) > 0 && named[0].place < place { // new items too: they have no place
			push(named[0].value)
			named = named[1:]
		}
		push(l.live.At(place))
	}
	for _, item := range named {
		push(item.value)
	}
	return build.ListIf(changed || build.Pushed(mark) != l.live.Len(), mark, l.live)
}
