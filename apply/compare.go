package apply

import (
	"slices"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/schema"
)

// Changes are the fields in which two documents differ. Each field is in one of the sets, except duplicate list items
// that became unique or the other way round: they are removed in one form and added in the other.
type Changes struct {
	Added, Modified, Removed fieldset.Set
}

// IsEmpty reports whether there are no changes.
func (c Changes) IsEmpty() bool {
	return c.Added.IsEmpty() && c.Modified.IsEmpty() && c.Removed.IsEmpty()
}

// without leaves out fields that don't count, with everything below them.
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

// set returns the fields that have a new value.
func (c Changes) set() fieldset.Set { return c.Modified.Union(c.Added) }

// compare returns what changed between two documents of a kind. Parts that the
// documents share cost nothing.
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
	comparers.Put(c) // not after a panic, which leaves it in disorder
	return found
}

// changeKind is what can happen to one field.
type changeKind uint8

const (
	added changeKind = iota
	modified
	removed
	changeKinds = int(iota)
)

// changeFlags says which changes the path of a value is itself a member of.
type changeFlags [changeKinds]bool

// comparer builds the three sets at once, level by level.
type comparer struct {
	sets  [changeKinds]fastset.Builder
	plain bool // take no shortcuts
}

var comparers = sync.Pool{New: func() any { return new(comparer) }}

// value compares two values, at most one of which is absent. What is below their
// path stays on the builders' current level; what concerns the path itself is
// returned.
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
		// A value that changes its shape is compared as either: all that was in
		// the old one is removed, all that is in the new one is added.
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

// alternatives returns the shapes in which the values are to be compared; the
// first is NoAlternative if one is enough.
func (c *comparer) alternatives(t *schema.Type, before, after document.Value) (first, second schema.Alternative) {
	if after.IsAbsent() {
		return schema.NoAlternative, t.Resolve(before.Kind())
	}
	if before.IsAbsent() {
		return schema.NoAlternative, t.Resolve(after.Kind())
	}
	return t.Resolve(before.Kind()), t.Resolve(after.Kind())
}

// alternative compares two values as one shape, and tells whether they are a leaf
// in that shape.
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

// leafChange says what happened to a leaf.
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

func (f changeFlags) with(other changeFlags) changeFlags {
	for i := range f {
		f[i] = f[i] || other[i]
	}
	return f
}

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

// child compares two values one level below the current one.
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

// lists compares the items of granular lists by their element; their order does
// not matter.
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

// compareInOrder compares lists whose common items are in the same order, and of which only a few
// were added, removed or changed, all of which occur once. It looks at no path elements
// but theirs. If the lists are not like that it does nothing and returns false.
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
	for _, item := range changed {
		c.child(item.element, t.Item, item.old, item.new)
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

// linkDuplicates returns, for every item, the place of the next item with the same element,
// -1 if it is the last, and whether there are others at all. It returns nil if no element
// occurs twice.
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

type occurrence struct {
	next     int
	duplicate bool
}

// occurrences are the items of a list that have one element.
type occurrences struct {
	list  document.Value
	links []occurrence // of all items; nil if none is repeated
	first int          // -1 if there is none
}

func (o occurrences) item() document.Value {
	if o.first < 0 {
		return document.Value{}
	}
	return o.list.At(o.first)
}

func (o occurrences) duplicate() bool {
	return o.first >= 0 && o.links != nil && o.links[o.first].duplicate
}

// equal compares the items one by one, in their order.
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

// items compares what two lists have under one element. Items that occur more than
// once are one unit: they can't be compared inside.
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
