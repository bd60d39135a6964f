package apply

import (
	"cmp"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// This file is how the walker tells the items of a list apart: by their keys, side
// by side on a stack, with an order beside them. An item of a set is its own key.

// itemMark is where the items of one open list are on the walker's stacks:
//
//	keys[keys : keys+count*width]   the keys of each item, in the order of names
//	ints[ints : ints+count]         the order of the items
//	ints[ints+count : ints+2*count] where each item ends in what was written
type itemMark struct{ keys, ints, count, width int }

// openItems puts the keys of a list's items on the stack. An item without a key
// makes the walker fail.
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

func (w *configWalker) closeItems(mark itemMark) {
	w.maxKeys = max(w.maxKeys, len(w.keys))
	w.keys, w.ints = w.keys[:mark.keys], w.ints[:mark.ints]
}

func (w *configWalker) pushKeys(l *schema.List, item document.Value) {
	if l.Relationship != schema.Keyed {
		w.failed = w.failed || !item.IsScalar()
		w.keys = append(w.keys, document.Field{Value: item})
		return
	}
	some := false
	w.failed = w.failed || item.Kind() != document.Map
	for _, key := range sortedKeys(l) {
		value := keyValue(key, item)
		some = some || !value.IsAbsent()
		w.keys = append(w.keys, document.Field{Name: key.Name, Value: value})
	}
	w.failed = w.failed || !some
}

// keysOf returns the keys of the j-th item.
func (w *configWalker) keysOf(mark itemMark, j int) []document.Field {
	start := mark.keys + j*mark.width
	return w.keys[start : start+mark.width]
}

// order returns the places of the items in the order of their keys.
func (w *configWalker) order(mark itemMark) []int { return w.ints[mark.ints : mark.ints+mark.count] }

// ends returns where the items end in what was written.
func (w *configWalker) ends(mark itemMark) []int {
	return w.ints[mark.ints+mark.count : mark.ints+2*mark.count]
}

// sortItems orders the items by their keys, equal ones by their place, and tells
// whether all are different.
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

// compareKeyFields orders keys of one list as their path elements are ordered: an
// absent key is left out, so that the next one's name is compared in its place.
func compareKeyFields(a, b []document.Field) int {
	for i := range a {
		va, vb := a[i].Value, b[i].Value
		switch {
		case va.IsAbsent() && vb.IsAbsent():
			continue
		case va.IsAbsent():
			return compareWithout(a[i+1:])
		case vb.IsAbsent():
			return -compareWithout(b[i+1:])
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

// compareWithout compares a key that has only the given fields left with one that
// has another field before those: it comes first if it has none left, else last,
// as names are in order.
func compareWithout(rest []document.Field) int {
	for _, f := range rest {
		if !f.Value.IsAbsent() {
			return 1
		}
	}
	return -1
}

// aligned reports whether a list has the same items in the same places as the open
// one.
func (w *configWalker) aligned(l *schema.List, list document.Value, items itemMark) bool {
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

// matchItems finds the items of a list among those of the open one by going through
// both in order. A list with items that have no key is left to matchElements.
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
		side := -1
		for b < len(new) {
			if side = compareKeyFields(w.keysOf(items, new[b]), w.keysOf(mark, old[a])); side >= 0 {
				break
			}
			b++
		}
		if b < len(new) && side == 0 {
			m.toConfig[old[a]], m.toLive[new[b]] = new[b], old[a]
		}
	}
	return m
}
