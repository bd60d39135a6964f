package apply

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// Changes are the fields in which two documents differ. Each field is in one of the sets, except list items that
// became duplicates or stopped being duplicates: these are in Removed in one form and in Added in the other.
type Changes struct {
	Added, Modified, Removed fieldset.Set
}

// IsEmpty reports whether all sets are empty.
func (c Changes) IsEmpty() bool {
	return c.Added.IsEmpty() && c.Modified.IsEmpty() && c.Removed.IsEmpty()
}

// without returns the changes without the given fields and everything below them.
func (c Changes) without(fields fieldset.Set) Changes {
	if fields.IsEmpty() {
		return c
	}
	return Changes{
		Added:    c.Added.RecursiveDifference(fields),
		Modified: c.Modified.RecursiveDifference(fields),
		Removed:  c.Removed.RecursiveDifference(fields),
	}
}

// set returns the fields that were added or modified.
func (c Changes) set() fieldset.Set { return c.Modified.Union(c.Added) }

// compare returns the changes between two documents. Subtrees that the documents share are skipped.
func (e *Engine) compare(t *schema.Type, before, after document.Value) Changes {
	c := comparers.Get().(*comparer)
	c.plain = e.options.plain
	c.value(t, before, after)
	found := Changes{
		Added:    c.sets[added].Set(0),
		Modified: c.sets[modified].Set(0),
		Removed:  c.sets[removed].Set(0),
	}
	for i := range c.sets {
		c.sets[i].Reset()
	}
	comparers.Put(c) // not deferred: after a panic the comparer's builders are inconsistent
	return found
}

// changeKind is the kind of change of one field.
type changeKind uint8

const (
	added changeKind = iota
	modified
	removed
	changeKinds = int(iota)
)

// changeFlags reports for each changeKind whether the path of a value is itself in that set.
type changeFlags [changeKinds]bool

// comparer builds the three sets of Changes in one recursive comparison.
type comparer struct {
	sets  [changeKinds]fastset.Builder
	plain bool // disables the fast path for lists
}

var comparers = sync.Pool{New: func() any { return new(comparer) }}

// value compares two values, at most one of which is absent. It leaves the changes below their path on the current
// level of the builders and returns the changes of the path itself.
func (c *comparer) value(t *schema.Type, before, after document.Value) (self changeFlags) {
	if document.Same(before, after) {
		return self
	}
	if t == nil {
		t = schema.Untyped
	}
	leaf := false
	handle := func(alternative schema.Alternative) {
		if c.alternative(t, alternative, before, after) {
			leaf = true
			self = self.with(leafChange(before, after))
		}
	}
	first, second := c.alternatives(t, before, after)
	if first != second && first != schema.NoAlternative {
		// A value that changes between map, list and scalar is compared in both shapes: all fields of the old
		// value are removed, and all fields of the new value are added.
		handle(first)
		leaf = false
	}
	handle(second)
	if !leaf {
		switch {
		case before.IsAbsent():
			self[added] = true
		case after.IsAbsent():
			self[removed] = true
		}
	}
	return self
}

// alternatives returns the alternatives of the type in which the values are compared. first is NoAlternative if one
// comparison is enough.
func (c *comparer) alternatives(t *schema.Type, before, after document.Value) (first, second schema.Alternative) {
	if after.IsAbsent() {
		return schema.NoAlternative, t.Resolve(before.Kind())
	}
	if before.IsAbsent() {
		return schema.NoAlternative, t.Resolve(after.Kind())
	}
	return t.Resolve(before.Kind()), t.Resolve(after.Kind())
}

// alternative compares two values as the given alternative of their type, and reports whether they are leaves in it.
func (c *comparer) alternative(t *schema.Type, shape schema.Alternative, before, after document.Value) (leaf bool) {
	switch shape {
	case schema.MapAlternative:
		if t.Map.Atomic || isEmptyAs(before, document.Map) && isEmptyAs(after, document.Map) {
			return true
		}
		c.maps(t.Map, asKind(before, document.Map), asKind(after, document.Map))
		return false
	case schema.ListAlternative:
		if t.List.Relationship == schema.Atomic || isEmptyAs(before, document.List) && isEmptyAs(after, document.List) {
			return true
		}
		c.lists(t.List, asKind(before, document.List), asKind(after, document.List))
		return false
	}
	return true
}

// leafChange returns the change of a leaf.
func leafChange(before, after document.Value) (self changeFlags) {
	switch {
	case before.IsAbsent():
		self[added] = true
	case after.IsAbsent():
		self[removed] = true
	case !document.Equal(before, after):
		self[modified] = true
	}
	return self
}

// with returns the union of two changeFlags.
func (f changeFlags) with(other changeFlags) changeFlags {
	for i := range f {
		f[i] = f[i] || other[i]
	}
	return f
}

// maps compares two granular maps by a merge join of their sorted fields.
func (c *comparer) maps(t *schema.Map, before, after document.Value) {
	for i, j := 0, 0; i < before.Len() || j < after.Len(); {
		side := compareNames(before, i, after, j)
		var name string
		var old, new document.Value
		if side <= 0 {
			name, old = before.Name(i), before.At(i)
			i++
		}
		if side >= 0 {
			name, new = after.Name(j), after.At(j)
			j++
		}
		if document.Same(old, new) {
			continue
		}
		child, _ := t.TypeOf(name)
		c.child(fieldset.NameElement(name), child, old, new)
	}
}

// child compares two values of a field or item and adds the changes to the builders' current level.
func (c *comparer) child(e fieldset.Element, t *schema.Type, before, after document.Value) {
	var marks [changeKinds]int
	for i := range marks {
		marks[i] = c.sets[i].Mark()
	}
	self := c.value(t, before, after)
	for i := range marks {
		below := c.sets[i].Set(marks[i])
		c.sets[i].Push(e, self[i], below)
	}
}

// lists compares two granular lists by the path elements of their items. The order of items is irrelevant.
func (c *comparer) lists(t *schema.List, before, after document.Value) {
	if !c.plain && c.compareInOrder(t, before, after) {
		return
	}
	old, _ := elements(t, before)
	new, _ := elements(t, after)
	inOld, inNew := newElementIndex(old), newElementIndex(new)
	oldLinks, newLinks := linkDuplicates(old), linkDuplicates(new)
	for i, e := range old {
		if e == (fieldset.Element{}) || inOld.find(e) != i {
			continue
		}
		j := inNew.find(e)
		c.items(e, t.Item, occurrences{before, oldLinks, i}, occurrences{after, newLinks, j})
	}
	for j, e := range new {
		if e == (fieldset.Element{}) || inNew.find(e) != j || inOld.find(e) >= 0 {
			continue
		}
		c.items(e, t.Item, occurrences{before, oldLinks, -1}, occurrences{after, newLinks, j})
	}
}

// compareInOrder is the fast path of lists: it compares lists whose common items have the same order and of which at
// most 16 items were added, removed or changed, each without duplicates. It computes path elements only for these
// items. It returns false, and adds no change, if the lists do not meet the conditions.
func (c *comparer) compareInOrder(t *schema.List, before, after document.Value) bool {
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
			return false // the common items of both lists have different orders
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
	for _, item := range changed {
		c.child(item.element, t.Item, item.old, item.new)
	}
	return true
}

// changedItem is a list item that was added, removed or modified. The absent value is old for an added item and new
// for a removed one.
type changedItem struct {
	old, new document.Value
	element  fieldset.Element
}

// identify sets the path element of a changed item, and reports whether no other item has it. An item that existed
// before is compared with the list before; an added item has no equal there, so that only another added item can be
// its duplicate.
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

// countItems returns the number of items in a list that have the same path element as the given item.
func countItems(t *schema.List, list, item document.Value) (count int) {
	for i := range list.Len() {
		if sameItem(t, list.At(i), item) {
			count++
		}
	}
	return count
}

// linkDuplicates returns for each item the index of the next item with the same path element, -1 if there is none,
// and whether the item has duplicates at all. It returns nil if no path element occurs twice.
func linkDuplicates(elements []fieldset.Element) []occurrence {
	if newElementIndex(elements).duplicates() == nil {
		return nil
	}
	next := make([]occurrence, len(elements))
	last := make(map[fieldset.Element]int, len(elements))
	for i := len(elements) - 1; i >= 0; i-- {
		next[i].next = -1
		if later, ok := last[elements[i]]; ok {
			next[i] = occurrence{later, true}
			next[later].duplicate = true
		}
		last[elements[i]] = i
	}
	return next
}

// occurrence links a list item to its next duplicate.
type occurrence struct {
	next      int
	duplicate bool
}

// occurrences are the items of a list that have the same path element.
type occurrences struct {
	list  document.Value
	links []occurrence // links of all list items to their duplicates; nil if the list has none
	first int          // index of the first list item with the path element, -1 if there is none
}

// item returns the first item, absent if there is none.
func (o occurrences) item() document.Value {
	if o.first < 0 {
		return document.Value{}
	}
	return o.list.At(o.first)
}

// duplicate reports whether there is more than one item.
func (o occurrences) duplicate() bool {
	return o.first >= 0 && o.links != nil && o.links[o.first].duplicate
}

// equal compares the items pairwise, in their order. Both sides must have duplicates.
func (o occurrences) equal(other occurrences) bool {
	i, j := o.first, other.first
	for i >= 0 && j >= 0 {
		if !document.Equal(o.list.At(i), other.list.At(j)) {
			return false
		}
		i, j = o.links[i].next, other.links[j].next
	}
	return i == j
}

// items compares the items that two lists have for one path element. Duplicates are compared as one unit, without the
// fields inside.
func (c *comparer) items(e fieldset.Element, t *schema.Type, before, after occurrences) {
	switch {
	case !before.duplicate() && !after.duplicate():
		if !document.Same(before.item(), after.item()) {
			c.child(e, t, before.item(), after.item())
		}
	case before.duplicate() && after.duplicate():
		if !before.equal(after) {
			c.sets[modified].Push(e, true, fieldset.Set{})
		}
	case before.duplicate():
		if after.first >= 0 {
			c.child(e, t, document.Value{}, after.item())
		}
		c.sets[removed].Push(e, true, fieldset.Set{})
	default:
		if before.first >= 0 {
			c.child(e, t, before.item(), document.Value{})
		}
		c.sets[added].Push(e, true, fieldset.Set{})
	}
}
