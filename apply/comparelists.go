package apply

import (
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// lists compares the items of granular lists by their element; their order does
// not matter.
func (c *comparer) lists(t *schema.List, before, after document.Value) {
	if !c.plain && c.inOrder(t, before, after) {
		return
	}
	old, _ := elements(t, before)
	new, _ := elements(t, after)
	inOld, inNew := newIndex(old), newIndex(new)
	oldTwice, newTwice := nextOccurrences(old), nextOccurrences(new)
	for i, e := range old {
		if e == (fieldset.Element{}) || inOld.find(e) != i {
			continue
		}
		j := inNew.find(e)
		c.items(e, t.Item, occurrences{before, oldTwice, i}, occurrences{after, newTwice, j})
	}
	for j, e := range new {
		if e == (fieldset.Element{}) || inNew.find(e) != j || inOld.find(e) >= 0 {
			continue
		}
		c.items(e, t.Item, occurrences{before, oldTwice, -1}, occurrences{after, newTwice, j})
	}
}

// inOrder compares lists whose common items are in the same order, and of which only a few
// were added, removed or changed, all of which occur once. It looks at no path elements
// but theirs. If the lists are not like that it does nothing and returns false.
func (c *comparer) inOrder(t *schema.List, before, after document.Value) bool {
	var array [16]changedItem
	changed := array[:0]
	for i, j := 0, 0; i < before.Len() || j < after.Len(); {
		var item changedItem
		switch {
		case i < before.Len() && j < after.Len() && sameItem(t, before.At(i), after.At(j)):
			item.old, item.new = before.At(i), after.At(j)
			i++
			j++
		case j < after.Len() && countItems(t, before, after.At(j)) == 0:
			item.new = after.At(j)
			j++
		case i < before.Len():
			item.old = before.At(i)
			i++
		default:
			return false // what comes now was before what came already
		}
		if document.Equal(item.old, item.new) {
			continue
		}
		if len(changed) == cap(changed) {
			return false
		}
		changed = append(changed, item)
	}
	for i := range changed {
		if !changed[i].identify(t, before, changed[:i]) {
			return false
		}
	}
	for _, one := range changed {
		c.child(one.element, t.Item, one.old, one.new)
	}
	return true
}

// changedItem is an item before and after; one of them may be absent.
type changedItem struct {
	old, new document.Value
	element  fieldset.Element
}

// identify finds the element of a changed item, and tells whether no other item has it. What
// was there before has its pair after, or nothing; what was not there is new, so that only
// what is new may be its double.
func (c *changedItem) identify(t *schema.List, before document.Value, others []changedItem) (ok bool) {
	if !c.old.IsAbsent() {
		c.element, ok = elementOf(t, c.old)
		return ok && countItems(t, before, c.old) == 1
	}
	c.element, ok = elementOf(t, c.new)
	return ok && !slices.ContainsFunc(others, func(other changedItem) bool {
		return other.old.IsAbsent() && other.element == c.element
	})
}

// countItems returns how many items of a list have the element of an item.
func countItems(t *schema.List, list, item document.Value) (count int) {
	for i := range list.Len() {
		if sameItem(t, list.At(i), item) {
			count++
		}
	}
	return count
}

// nextOccurrences returns, for every item, the place of the next item with the same element,
// -1 if it is the last, and whether there are others at all. It returns nil if no element
// occurs twice.
func nextOccurrences(elements []fieldset.Element) []occurrence {
	if newIndex(elements).duplicates() == nil {
		return nil
	}
	next := make([]occurrence, len(elements))
	last := make(map[fieldset.Element]int, len(elements))
	for i := len(elements) - 1; i >= 0; i-- {
		next[i].next = -1
		if later, ok := last[elements[i]]; ok {
			next[i] = occurrence{later, true}
			next[later].repeated = true
		}
		last[elements[i]] = i
	}
	return next
}

type occurrence struct {
	next     int
	repeated bool
}

// occurrences are the items of a list that have one element.
type occurrences struct {
	list  document.Value
	twice []occurrence // of all items; nil if none is repeated
	first int          // -1 if there is none
}

func (o occurrences) one() document.Value {
	if o.first < 0 {
		return document.Value{}
	}
	return o.list.At(o.first)
}

func (o occurrences) several() bool {
	return o.first >= 0 && o.twice != nil && o.twice[o.first].repeated
}

// equal compares the items one by one, in their order.
func (o occurrences) equal(other occurrences) bool {
	i, j := o.first, other.first
	for i >= 0 && j >= 0 {
		if !document.Equal(o.list.At(i), other.list.At(j)) {
			return false
		}
		i, j = o.twice[i].next, other.twice[j].next
	}
	return i == j
}

// items compares what two lists have under one element. Items that occur more than
// once are one unit: they can't be compared inside.
func (c *comparer) items(e fieldset.Element, t *schema.Type, before, after occurrences) {
	switch {
	case !before.several() && !after.several():
		if !document.Same(before.one(), after.one()) {
			c.child(e, t, before.one(), after.one())
		}
	case before.several() && after.several():
		if !before.equal(after) {
			c.sets[modified].Push(e, true, fieldset.Set{})
		}
	case before.several():
		if after.first >= 0 {
			c.child(e, t, document.Value{}, after.one())
		}
		c.sets[removed].Push(e, true, fieldset.Set{})
	default:
		if before.first >= 0 {
			c.child(e, t, before.one(), document.Value{})
		}
		c.sets[added].Push(e, true, fieldset.Set{})
	}
}
