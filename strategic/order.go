package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// The order of a merged list combines two sequences. The first consists of the items that the patch lists, in its list
// or in $setElementOrder, in that order; the second consists of all other items, in the order of the live list. An item
// of the second sequence precedes an item of the first sequence if it precedes that item in the live list. Subject to
// this rule, it is placed as late as possible. With $setElementOrder, as many new items as the patch deletes are
// treated as the last items of the live list, because Kubernetes reuses the slots of the deleted items.

// order is the parsed value of $setElementOrder. A nil *order means that there is no such directive.
type order struct{ ids identities }

// readOrder parses the value of $setElementOrder; it returns nil if the value is absent.
func (m *merger) readOrder(key string, list document.Value) (*order, error) {
	if list.IsAbsent() {
		return nil, nil
	}
	o := &order{ids: m.identities(list.Len())}
	for i, item := range list.Items() {
		id, err := identifyItem(key, item)
		if err != nil {
			return nil, prefixIndex(err, i)
		}
		o.ids.add(id)
	}
	return o, nil
}

// check returns an error if o does not contain all items, or if the items are not in the order of o.
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

// checkList is check for the items of list, a list of the patch that is not merged into a live list.
func (o *order) checkList(key string, list document.Value) error {
	if o == nil {
		return nil
	}
	var ids []identity
	for i, item := range list.Items() {
		if action, err := itemAction(item); err != nil || action != mergeAction {
			continue // an item with a $patch directive is not part of the result
		}
		id, err := identifyItem(key, item)
		if err != nil {
			return prefixIndex(err, i)
		}
		ids = append(ids, id)
	}
	return o.check(ids)
}

// orElse returns the identities of o, or other if o is nil.
func (o *order) orElse(other *identities) *identities {
	if o == nil {
		return other
	}
	return &o.ids
}

// listBuilder builds a merged list from a live list and the items of a patch.
type listBuilder struct {
	m           *merger
	live        document.Value
	ids         identities    // identities of the live items
	duplicates  map[int][]int // positions of further items with the same identity, by the position of the first one
	done        []bool        // flags of the live items that are removed or in ordered
	ordered     []orderedItem
	reusedSlots int // number of deleted items whose slots new items may reuse; see the comment above
	next        int // the position in the live list that the next lookup compares first
}

// orderedItem is an item that the patch lists, with its position in the live list. The position of a new item is -1, or
// the length of the live list if it reuses the slot of a deleted item.
type orderedItem struct {
	value    document.Value
	position int
}

// newListBuilder returns a builder for the live list. It returns an error if an item of the live list has no identity.
func newListBuilder(m *merger, key string, live document.Value) (listBuilder, error) {
	l := listBuilder{m: m, live: live, ids: m.identities(live.Len()), done: m.flags(live.Len())}
	for i, item := range live.Items() {
		id, err := identifyItem(key, item)
		if err != nil {
			return l, prefixIndex(unprocessable("an item of the object with the merge key "+key, show(item),
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

// find returns the first position of id in the live list. It returns -1 if the live list does not contain id, or if the
// item is done.
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

// put appends the live item at the given position to the ordered items, with value as its merged value.
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

// remove removes the live item at the given position and its duplicates, and returns the number of removed items.
func (l *listBuilder) remove(position int) int {
	l.done[position] = true
	for _, duplicate := range l.duplicates[position] {
		l.done[duplicate] = true
	}
	return 1 + len(l.duplicates[position])
}

// build returns the merged list: the ordered items and the live items that are not done. It returns the live list
// itself if nothing changed.
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
		for len(ordered) > 0 && ordered[0].position < position { // new items, at position -1, come first
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
