package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// Changes are the fields in which two documents differ. No field is in more than
// one of the sets, but for items of a list that occurred more than once and now occur
// once, or the other way round: these are removed as one and added as the other.
type Changes struct {
	Added, Modified, Removed fieldset.Set
}

// IsEmpty reports whether nothing changed.
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
	c.plain = e.options.Plain
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

// change is what can happen to one field.
type change uint8

const (
	added change = iota
	modified
	removed
	changes = int(iota)
)

// changeFlags says which changes the path of a value is itself a member of.
type changeFlags [changes]bool

// comparer builds the three sets at once, level by level.
type comparer struct {
	sets  [changes]fieldset.Builder
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
		if t.Map.Atomic || isEmpty(before, document.Map) && isEmpty(after, document.Map) {
			return true
		}
		c.maps(t.Map, as(before, document.Map), as(after, document.Map))
		return false
	case schema.ListAlternative:
		if t.List.Relationship == schema.Atomic || isEmpty(before, document.List) && isEmpty(after, document.List) {
			return true
		}
		c.lists(t.List, as(before, document.List), as(after, document.List))
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
	var marks [changes]int
	for i := range marks {
		marks[i] = c.sets[i].Mark()
	}
	self := c.value(t, before, after)
	for i := range marks {
		below := c.sets[i].Set(marks[i])
		c.sets[i].Push(e, self[i], below)
	}
}
