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

// orElse returns what the order names, or the given identities if there is no order.
func (o *order) orElse(other *identities) *identities {
	if o == nil {
		return other
	}
	return &o.ids
}

// listBuilder is a live list whose items get new places, values and neighbours.
type listBuilder struct {
	m           *merger
	live        document.Value
	ids         identities    // of the live items
	duplicates  map[int][]int // by the first place of an identity, the others that have it
	done        []bool        // live items that are named, or gone
	ordered     []orderedItem
	reusedSlots int // how many new items are taken for live ones
	next        int // the live item that is expected to be asked for next
}

// orderedItem is an item that the patch names, with its place in the live list, or -1.
type orderedItem struct {
	value    document.Value
	position int
}

func newListBuilder(m *merger, key string, live document.Value) (listBuilder, error) {
	l := listBuilder{m: m, live: live, ids: m.identities(live.Len()), done: m.flags(live.Len())}
	for i, item := range live.Items() {
		id, err := identifyItem(key, item)
		if err != nil {
			return l, underIndex(unprocessable("the object's items to have the merge key "+key, show(item),
				"replace the list as a whole, with a JSON patch"), i)
		}
		if first := l.ids.add(id); first != i {
			if l.duplicates == nil {
				l.duplicates = map[int][]int{}
			}
			l.duplicates[first] = append(l.duplicates[first], i)
		}
	}
	return l, nil
}

// find returns the first place of an identity among the live items that are left, or -1.
func (l *listBuilder) find(id identity) int {
	position := l.ids.findNear(id, l.next)
	l.next = position + 1
	if position >= 0 && !l.done[position] {
		return position
	}
	return -1
}

// reserve makes room for so many named items.
func (l *listBuilder) reserve(count int) { l.ordered = alloc(&l.m.ordered, count)[:0] }

// put gives a live item the next place in the row of those that are named, with what became
// of it.
func (l *listBuilder) put(position int, value document.Value) {
	l.done[position] = true
	l.ordered = append(l.ordered, orderedItem{value, position})
}

// putNew does that for an item that is new.
func (l *listBuilder) putNew(value document.Value) {
	position := -1
	if l.reusedSlots > 0 {
		l.reusedSlots--
		position = l.live.Len()
	}
	l.ordered = append(l.ordered, orderedItem{value, position})
}

// putWithDuplicates puts a live item and its twins.
func (l *listBuilder) putWithDuplicates(position int) {
	l.put(position, l.live.At(position))
	for _, duplicate := range l.duplicates[position] {
		if !l.done[duplicate] {
			l.put(duplicate, l.live.At(duplicate))
		}
	}
}

// remove takes a live item and its twins away, and returns how many those are.
func (l *listBuilder) remove(position int) int {
	l.done[position] = true
	for _, duplicate := range l.duplicates[position] {
		l.done[duplicate] = true
	}
	return 1 + len(l.duplicates[position])
}

// build puts the two rows together.
func (l *listBuilder) build() document.Value {
	docs := &l.m.build
	mark := docs.Mark()
	changed := false
	push := func(value document.Value) {
		at := docs.Pushed(mark)
		changed = changed || at >= l.live.Len() || !document.Same(value, l.live.At(at))
		docs.Push("", value)
	}
	ordered := l.ordered
	for position := range l.live.Len() {
		if l.done[position] {
			continue
		}
		for len(ordered) > 0 && ordered[0].position < position { // new items too: they have no place
			push(ordered[0].value)
			ordered = ordered[1:]
		}
		push(l.live.At(position))
	}
	for _, item := range ordered {
		push(item.value)
	}
	return docs.ListIf(changed || docs.Pushed(mark) != l.live.Len(), mark, l.live)
}
