package apply

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// configWalker identifies list items by the values of their list map keys. It holds these keys, and the indexes of the
// items sorted by key, on two stacks. In a list of type set, each item is its own key.

// itemMark locates the items of one list on configWalker's stacks keys and ints. A list is open from openItems to
// closeItems.
//
//	keys[keys : keys+count*width]     the keys of each item, sorted by name
//	ints[ints : ints+count]           the indexes of the items, sorted by key
//	ints[ints+count : ints+2*count]   the offset at which the encoded fields of each item end
type itemMark struct{ keys, ints, count, width int }

// openItems pushes the keys of a list's items on the stacks. It sets failed if an item has no key.
func (w *configWalker) openItems(l *schema.List, list document.Value) itemMark {
	mark := itemMark{keys: len(w.keys), ints: len(w.ints), count: list.Len(), width: max(1, len(l.Keys))}
	for i := range list.Len() {
		w.pushKeys(l, list.At(i))
		w.ints = append(w.ints, i)
	}
	for range list.Len() {
		w.ints = append(w.ints, 0)
	}
	return mark
}

// closeItems pops the items of a list from the stacks.
func (w *configWalker) closeItems(mark itemMark) {
	w.maxKeys = max(w.maxKeys, len(w.keys))
	w.keys, w.ints = w.keys[:mark.keys], w.ints[:mark.ints]
}

// pushKeys pushes the keys of one list item. It sets failed if the item has no key.
func (w *configWalker) pushKeys(l *schema.List, item document.Value) {
	if l.Relationship != schema.Keyed {
		w.failed = w.failed || !item.IsScalar()
		w.keys = append(w.keys, document.Field{Value: item})
		return
	}
	hasKey := false
	w.failed = w.failed || item.Kind() != document.Map
	for _, key := range sortedKeys(l) {
		value := keyValue(key, item)
		hasKey = hasKey || !value.IsAbsent()
		w.keys = append(w.keys, document.Field{Name: key.Name, Value: value})
	}
	w.failed = w.failed || !hasKey
}

// keysOf returns the keys of the j-th item of the list at mark.
func (w *configWalker) keysOf(mark itemMark, j int) []document.Field {
	start := mark.keys + j*mark.width
	return w.keys[start : start+mark.width]
}

// order returns the indexes of the items, sorted by key after sortItems.
func (w *configWalker) order(mark itemMark) []int { return w.ints[mark.ints : mark.ints+mark.count] }

// ends returns, for each item, the offset in w.fields at which its encoded fields end.
func (w *configWalker) ends(mark itemMark) []int {
	return w.ints[mark.ints+mark.count : mark.ints+2*mark.count]
}

// sortItems sorts the indexes of the items by key, and by index where keys are equal. It reports whether the keys of
// all items differ.
func (w *configWalker) sortItems(mark itemMark) (unique bool) {
	order := w.order(mark)
	sorted, unique := true, true
	for i := 1; i < len(order); i++ {
		c := compareKeyFields(w.keysOf(mark, i-1), w.keysOf(mark, i))
		sorted, unique = sorted && c <= 0, unique && c != 0
	}
	if sorted {
		return unique
	}
	slices.SortFunc(order, func(a, b int) int {
		return cmp.Or(compareKeyFields(w.keysOf(mark, a), w.keysOf(mark, b)), cmp.Compare(a, b))
	})
	for i := 1; i < len(order) && unique; i++ {
		unique = compareKeyFields(w.keysOf(mark, order[i-1]), w.keysOf(mark, order[i])) != 0
	}
	return unique
}

// compareKeyFields compares the keys of two items of a list in the order of their path elements. A path element omits
// absent keys, so an absent key is compared as the next present key of the item.
func compareKeyFields(a, b []document.Field) int {
	for i := range a {
		va, vb := a[i].Value, b[i].Value
		switch {
		case va.IsAbsent() && vb.IsAbsent():
			continue
		case va.IsAbsent():
			return compareAfterAbsentKey(a[i+1:])
		case vb.IsAbsent():
			return -compareAfterAbsentKey(b[i+1:])
		}
		if va.Kind() == document.String && vb.Kind() == document.String {
			if c := strings.Compare(va.Text(), vb.Text()); c != 0 {
				return c
			}
			continue
		}
		if c := document.Compare(va, vb); c != 0 {
			return c
		}
	}
	return 0
}

// compareAfterAbsentKey compares two path elements a and b with equal beginnings, where a omits the key that comes next
// in b. rest holds the remaining keys of a. Key names are sorted: if a key in rest is present, its name is greater than
// the next name in b, and the result is 1. Otherwise a is shorter, and the result is -1.
func compareAfterAbsentKey(rest []document.Field) int {
	for _, f := range rest {
		if !f.Value.IsAbsent() {
			return 1
		}
	}
	return -1
}

// hasSameKeys reports whether list has as many items as the open list that items locates, with equal keys at each
// index.
func (w *configWalker) hasSameKeys(l *schema.List, list document.Value, items itemMark) bool {
	if list.Len() != items.count {
		return false
	}
	for i := range list.Len() {
		mark := len(w.keys)
		failed := w.failed
		w.pushKeys(l, list.At(i))
		same := !w.failed && compareKeyFields(w.keys[mark:], w.keysOf(items, i)) == 0
		w.keys, w.failed = w.keys[:mark], failed
		if !same {
			return false
		}
	}
	return true
}

// matchItems matches the items of live with the items of config by a merge join of their sorted keys. If a live item
// has no key, matchItems calls matchElements instead.
func (w *configWalker) matchItems(l *schema.List, live, config document.Value, items itemMark) matching {
	mark := w.openItems(l, live)
	defer w.closeItems(mark)
	if w.failed {
		w.failed = false
		return matchElements(l, live, config)
	}
	m := newMatching(live.Len(), items.count)
	if !w.sortItems(mark) {
		m.duplicate = make([]bool, live.Len())
	}
	old, new := w.order(mark), w.order(items)
	for a, b := 0, 0; a < len(old); a++ {
		if a > 0 && m.duplicate != nil && compareKeyFields(w.keysOf(mark, old[a-1]), w.keysOf(mark, old[a])) == 0 {
			m.duplicate[old[a-1]], m.duplicate[old[a]] = true, true
			m.toConfig[old[a]] = m.toConfig[old[a-1]]
			continue
		}
		order := -1
		for b < len(new) {
			if order = compareKeyFields(w.keysOf(items, new[b]), w.keysOf(mark, old[a])); order >= 0 {
				break
			}
			b++
		}
		if b < len(new) && order == 0 {
			m.toConfig[old[a]], m.toLive[new[b]] = new[b], old[a]
		}
	}
	return m
}
