package apply

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// Changes are the fields in which two documents differ. Each field is in one of the three sets. The exception are list
// items that became duplicates or stopped being duplicates: Removed contains the items of the old document, and Added
// contains the items of the new document.
type Changes struct {
	Added, Modified, Removed fieldset.Set
}

// IsEmpty reports whether the documents do not differ: all three sets are empty.
func (c Changes) IsEmpty() bool {
	return c.Added.IsEmpty() && c.Modified.IsEmpty() && c.Removed.IsEmpty()
}

// without returns the changes except those at or below a member of the set fields.
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

// addedOrModified returns the union of Added and Modified.
func (c Changes) addedOrModified() fieldset.Set { return c.Modified.Union(c.Added) }

// compare returns the changes from before to after, two documents of type t. It skips subtrees that both documents share in
// memory.
func (e *Engine) compare(t *schema.Type, before, after document.Value) Changes {
	c := comparers.Get().(*comparer)
	c.plain = e.options.plain
	c.compareValue(t, before, after)
	found := Changes{
		Added:    c.sets[added].Set(0),
		Modified: c.sets[modified].Set(0),
		Removed:  c.sets[removed].Set(0),
	}
	for i := range c.sets {
		c.sets[i].Reset()
	}
	comparers.Put(c) // not deferred: after a panic the builders are inconsistent, and the comparer must not return to the pool
	return found
}

// changeKind is the kind of a change: added, modified or removed. It is the index of a set in comparer.sets.
type changeKind uint8

const (
	added changeKind = iota
	modified
	removed
	changeKinds = int(iota)
)

// changeFlags holds one flag per changeKind. A flag is set if the value itself, and not only a part of it, was added,
// modified or removed.
type changeFlags [changeKinds]bool

// comparer builds the three sets of Changes in one recursive walk of both documents.
type comparer struct {
	sets  [changeKinds]fastset.Builder
	plain bool // disables the fast path for lists
}

var comparers = sync.Pool{New: func() any { return new(comparer) }}

// compareValue compares the old and the new value of a field or list item, at most one of which is absent. It adds the changes
// of fields inside of the value to c.sets, and returns the change of the value itself.
func (c *comparer) compareValue(t *schema.Type, before, after document.Value) (self changeFlags) {
	if document.Same(before, after) {
		return self
	}
	if t == nil {
		t = schema.Untyped
	}
	leaf := false
	handle := func(alternative schema.Alternative) {
		if c.compareAs(t, alternative, before, after) {
			leaf = true
			self = self.union(leafChange(before, after))
		}
	}
	first, second := c.alternatives(t, before, after)
	if first != second && first != schema.NoAlternative {
		// If the value changed between map, list and scalar, it is compared twice, as the old and as the new kind: all
		// fields of the old value are removed, and all fields of the new value are added.
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

// alternatives returns the alternatives of t (map, list or scalar) that apply to the values before and after. If one of the
// values is absent, first is NoAlternative and second is the alternative of the present value, so compareValue compares the
// values only once.
func (c *comparer) alternatives(t *schema.Type, before, after document.Value) (first, second schema.Alternative) {
	if after.IsAbsent() {
		return schema.NoAlternative, t.Resolve(before.Kind())
	}
	if before.IsAbsent() {
		return schema.NoAlternative, t.Resolve(after.Kind())
	}
	return t.Resolve(before.Kind()), t.Resolve(after.Kind())
}

// compareAs compares the old and the new value as maps, lists or scalars, and adds the changes of fields inside of them
// to c.sets. It returns true, and adds nothing, if the values are leaves: scalars, atomic values or empty containers.
func (c *comparer) compareAs(t *schema.Type, shape schema.Alternative, before, after document.Value) (leaf bool) {
	switch shape {
	case schema.MapAlternative:
		if t.Map.Atomic || isEmptyAs(before, document.Map) && isEmptyAs(after, document.Map) {
			return true
		}
		c.compareMaps(t.Map, asKind(before, document.Map), asKind(after, document.Map))
		return false
	case schema.ListAlternative:
		if t.List.Relationship == schema.Atomic || isEmptyAs(before, document.List) && isEmptyAs(after, document.List) {
			return true
		}
		c.compareLists(t.List, asKind(before, document.List), asKind(after, document.List))
		return false
	}
	return true
}

// leafChange returns the change of a scalar or atomic value. Either its old or its new value may be absent, but not
// both.
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

// union returns the flags that are set in f or in other.
func (f changeFlags) union(other changeFlags) changeFlags {
	for i := range f {
		f[i] = f[i] || other[i]
	}
	return f
}

// compareMaps compares two granular maps in one pass over their sorted fields.
func (c *comparer) compareMaps(t *schema.Map, before, after document.Value) {
	for i, j := 0, 0; i < before.Len() || j < after.Len(); {
		order := compareNames(before, i, after, j)
		var name string
		var old, new document.Value
		if order <= 0 {
			name, old = before.Name(i), before.At(i)
			i++
		}
		if order >= 0 {
			name, new = after.Name(j), after.At(j)
			j++
		}
		if document.Same(old, new) {
			continue
		}
		child, _ := t.TypeOf(name)
		c.compareChild(fieldset.NameElement(name), child, old, new)
	}
}

// compareChild compares the old and the new value of a field or list item, and adds the changes to c.sets below the path
// element e.
func (c *comparer) compareChild(e fieldset.Element, t *schema.Type, before, after document.Value) {
	var marks [changeKinds]int
	for i := range marks {
		marks[i] = c.sets[i].Mark()
	}
	self := c.compareValue(t, before, after)
	for i := range marks {
		below := c.sets[i].Set(marks[i])
		c.sets[i].Push(e, self[i], below)
	}
}

// compareLists compares two granular lists by the path elements of their items. If only the order of the items differs, the
// lists are equal.
func (c *comparer) compareLists(t *schema.List, before, after document.Value) {
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
		c.compareItems(e, t.Item, occurrences{before, oldLinks, i}, occurrences{after, newLinks, j})
	}
	for j, e := range new {
		if e == (fieldset.Element{}) || inNew.find(e) != j || inOld.find(e) >= 0 {
			continue
		}
		c.compareItems(e, t.Item, occurrences{before, oldLinks, -1}, occurrences{after, newLinks, j})
	}
}

// compareInOrder is the fast path of compareLists. It handles two lists whose common items have the same order, if at most 16
// items were added, removed or modified, and none of these items has duplicates. It computes path elements only for
// these items. If the lists do not meet these conditions, it returns false and adds no changes.
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
		c.compareChild(item.element, t.Item, item.old, item.new)
	}
	return true
}

// changedItem is a list item that was added, removed or modified. old is absent for an added item; new is absent for a
// removed item.
type changedItem struct {
	old, new document.Value
	element  fieldset.Element
}

// identify sets c.element and reports whether no other item has this path element. A removed or modified item is compared with
// all items of the old list, before. An added item does not occur in the old list, so it is compared only with the added items
// in changed.
func (c *changedItem) identify(t *schema.List, before document.Value, changed []changedItem) (ok bool) {
	if !c.old.IsAbsent() {
		c.element, ok = elementOf(t, c.old)
		return ok && countItems(t, before, c.old) == 1
	}
	c.element, ok = elementOf(t, c.new)
	return ok && !slices.ContainsFunc(changed, func(other changedItem) bool {
		return other.old.IsAbsent() && other.element == c.element
	})
}

// countItems returns the number of items in list that have the same path element as item.
func countItems(t *schema.List, list, item document.Value) (count int) {
	for i := range list.Len() {
		if sameItem(t, list.At(i), item) {
			count++
		}
	}
	return count
}

// linkDuplicates returns one duplicateLink per path element in elements, or nil if no path element occurs twice.
func linkDuplicates(elements []fieldset.Element) []duplicateLink {
	if newElementIndex(elements).duplicates() == nil {
		return nil
	}
	next := make([]duplicateLink, len(elements))
	last := make(map[fieldset.Element]int, len(elements))
	for i := len(elements) - 1; i >= 0; i-- {
		next[i].next = -1
		if later, ok := last[elements[i]]; ok {
			next[i] = duplicateLink{later, true}
			next[later].duplicate = true
		}
		last[elements[i]] = i
	}
	return next
}

// duplicateLink links a list item to the next item with the same path element.
type duplicateLink struct {
	next      int  // index of the next item with the same path element, -1 if there is none
	duplicate bool // whether any other item has the same path element
}

// occurrences represents all items of a list that have one given path element: no item, one item or several duplicates.
type occurrences struct {
	list  document.Value
	links []duplicateLink // one link per list item; nil if the list has no duplicates
	first int             // index of the first list item with the path element, -1 if there is none
}

// item returns the first item with the path element, or an absent value if no item has it.
func (o occurrences) item() document.Value {
	if o.first < 0 {
		return document.Value{}
	}
	return o.list.At(o.first)
}

// hasDuplicates reports whether more than one item has the path element.
func (o occurrences) hasDuplicates() bool {
	return o.first >= 0 && o.links != nil && o.links[o.first].duplicate
}

// equal reports whether o and other represent the same number of items, which are pairwise equal. Both must represent
// more than one item.
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

// compareItems compares the items with the path element e in two lists. Duplicates are compared as one unit, without the
// fields inside of them.
func (c *comparer) compareItems(e fieldset.Element, t *schema.Type, before, after occurrences) {
	switch {
	case !before.hasDuplicates() && !after.hasDuplicates():
		if !document.Same(before.item(), after.item()) {
			c.compareChild(e, t, before.item(), after.item())
		}
	case before.hasDuplicates() && after.hasDuplicates():
		if !before.equal(after) {
			c.sets[modified].Push(e, true, fieldset.Set{})
		}
	case before.hasDuplicates():
		if after.first >= 0 {
			c.compareChild(e, t, document.Value{}, after.item())
		}
		c.sets[removed].Push(e, true, fieldset.Set{})
	default:
		if before.first >= 0 {
			c.compareChild(e, t, before.item(), document.Value{})
		}
		c.sets[added].Push(e, true, fieldset.Set{})
	}
}
