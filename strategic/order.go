package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// The order of a merged list is a merge of two sequences: the items that the patch lists, in its list or in a directive
// $setElementOrder, in that order; and all other items, in the order of the live list. An item of the second sequence
// precedes an item of the first if it did so in the live list, and is placed as late as possible otherwise. With a
// directive, new items count as the last items of the live list, as many as were deleted from it, because Kubernetes
// reuses the slots of the deleted items.

// order is the value of $setElementOrder; nil if there is no directive.
type order struct{ ids identities }

// readOrder parses the value of $setElementOrder.
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

// check rejects items that are not in the order, or are in another order.
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
	return malformed("all items of the patch in "+orderDirective+", in the same order",
		"the item "+clip(items[next].text)+", missing or in another order", "list the items in the same order in the patch and in the directive")
}

// checkList is check for a list that is not merged.
func (o *order) checkList(key string, list document.Value) error {
	if o == nil {
		return nil
	}
	var ids []identity
	for i, item := range list.Items() {
		if action, err := itemAction(item); err != nil || action != mergeAction {
			continue // a directive item is not part of the result
		}
		id, err := identifyItem(key, item)
		if err != nil {
			return underIndex(err, i)
		}
		ids = append(ids, id)
	}
	return o.check(ids)
}

// orElse returns the identities of the order, or other if there is no order.
func (o *order) orElse(other *identities) *identities {
	if o == nil {
		return other
	}
	return &o.ids
}

// listBuilder builds a merged list from a live list.
type listBuilder struct {
	m           *merger
	live        document.Value
	ids         identities    // identities of the live items
	duplicates  map[int][]int // positions of duplicates by the first position of their identity
	done        []bool        // flags of live items that are in ordered or removed
	ordered     []orderedItem
	reusedSlots int // number of deleted items whose slots new items reuse
	next        int // expected position in the live list of the next lookup
}

// orderedItem is an item that the patch lists, with its position in the live list, or -1 for a new item.
type orderedItem struct {
	value    document.Value
	position int
}

// newListBuilder identifies the items of the live list.
func newListBuilder(m *merger, key string, live document.Value) (listBuilder, error) {
	l := listBuilder{m: m, live: live, ids: m.identities(live.Len()), done: m.flags(live.Len())}
	for i, item := range live.Items() {
		id, err := identifyItem(key, item)
		if err != nil {
			return l, underIndex(unprocessable("an item of the object with the merge key "+key, show(item),
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

// find returns the first position of an identity among the live items that are not done, -1 if there is none.
func (l *listBuilder) find(id identity) int {
	position := l.ids.findNear(id, l.next)
	l.next = position + 1
	if position >= 0 && !l.done[position] {
		return position
	}
	return -1
}

// reserve allocates memory for count ordered items.
func (l *listBuilder) reserve(count int) { l.ordered = alloc(&l.m.ordered, count)[:0] }

// put appends a live item with its merged value to the ordered items.
func (l *listBuilder) put(position int, value document.Value) {
	l.done[position] = true
	l.ordered = append(l.ordered, orderedItem{value, position})
}

// putNew appends a new item to the ordered items.
func (l *listBuilder) putNew(value document.Value) {
	position := -1
	if l.reusedSlots > 0 {
		l.reusedSlots--
		position = l.live.Len()
	}
	l.ordered = append(l.ordered, orderedItem{value, position})
}

// putWithDuplicates appends a live item and its duplicates to the ordered items.
func (l *listBuilder) putWithDuplicates(position int) {
	l.put(position, l.live.At(position))
	for _, duplicate := range l.duplicates[position] {
		if !l.done[duplicate] {
			l.put(duplicate, l.live.At(duplicate))
		}
	}
}

// remove removes a live item and its duplicates, and returns their number.
func (l *listBuilder) remove(position int) int {
	l.done[position] = true
	for _, duplicate := range l.duplicates[position] {
		l.done[duplicate] = true
	}
	return 1 + len(l.duplicates[position])
}

// build merges the ordered items with the remaining live items. It returns the live list itself if nothing changed.
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
		for len(ordered) > 0 && ordered[0].position < position { // position is -1 for new items
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
