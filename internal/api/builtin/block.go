package builtin

import (
	"github.com/cadastre/cadastre/document"
)

// block is a named list of statements about a value: the rules of a type or of a kind.
type block struct {
	name       string
	namespaced bool // of a kind
	review     bool // of a kind whose objects are answered and not stored: they have no name
	// checksNames says that the rules say how an object's name is written.
	checksNames bool
	statements  []statement
}

// statement is one line of rules: checks of the value at a path, or a condition with the
// statements that depend on it.
type statement struct {
	// idle says that there is nothing to check if the field is not there that the path starts with.
	idle      bool
	at        []step
	elsewhere []step // where to report; nil: at the value
	checks    []check

	premise         *premise
	then, otherwise []statement
}

// check looks at a value and what it was before. It says whether the checks after it on the same
// line are to be made.
type check func(c *checker, now, old document.Value) bool

// premise asks something about a value, of this block or of one that is being run around it.
type premise struct {
	scope string // "": this block
	of    []step
	was   bool // ask about the old value
	test  func(c *checker, v document.Value) bool
}

// run runs a block on a value.
func (c *checker) run(b *block, now, old document.Value) {
	before := len(c.errs)
	c.scopes = append(c.scopes, scope{b, now, old})
	c.all(b.statements, now, old)
	c.scopes = c.scopes[:len(c.scopes)-1]
	if len(c.errs) > before {
		if c.faulty == nil {
			c.faulty = map[document.Value]bool{}
		}
		c.faulty[now] = true
	}
}

func (c *checker) all(statements []statement, now, old document.Value) {
	for i := range statements {
		s := &statements[i]
		if s.premise != nil {
			if c.holds(s.premise, now, old) {
				c.all(s.then, now, old)
			} else {
				c.all(s.otherwise, now, old)
			}
			continue
		}
		if s.idle && now.Get(s.at[0].name).IsAbsent() {
			continue // as most are
		}
		base, elsewhere := c.base, c.elsewhere
		c.base, c.elsewhere = len(c.where), s.elsewhere
		c.follow(s, s.at, now, old)
		c.base, c.elsewhere = base, elsewhere
	}
}

func (c *checker) holds(cond *premise, now, old document.Value) bool {
	if cond.scope != "" {
		var ok bool
		if now, old, ok = c.enclosing(cond.scope); !ok {
			return false
		}
	}
	if cond.was {
		now = old
	}
	for _, s := range cond.of {
		now = now.Get(s.name)
	}
	return cond.test(c, now)
}

// follow goes the rest of a statement's way and makes its checks at each end of it.
func (c *checker) follow(s *statement, way []step, now, old document.Value) {
	if len(way) == 0 {
		c.make(s.checks, now, old)
		return
	}
	switch way[0].kind {
	case stepField:
		name := way[0].name
		c.push(name)
		c.follow(s, way[1:], now.Get(name), old.Get(name))
		c.pop()
	case stepItem:
		c.eachItem(s, way[1:], now)
	case stepKey:
		if now.Kind() != document.Map {
			return
		}
		for i := range now.Len() {
			key, value := now.Field(i)
			c.pushKey(key)
			c.follow(s, way[1:], value, old.Get(key))
			c.pop()
		}
	}
}

func (c *checker) eachItem(s *statement, way []step, list document.Value) {
	if list.Kind() != document.List {
		return
	}
	around, item := c.list, c.item
	for i := range list.Len() {
		c.list, c.item = list, i
		c.pushItem(i)
		c.follow(s, way, list.At(i), document.Value{})
		c.pop()
	}
	c.list, c.item = around, item
}

func (c *checker) make(checks []check, now, old document.Value) {
	for _, check := range checks {
		if !check(c, now, old) {
			return
		}
	}
}

// key returns the last step of where the checker is: the field's name or the map's key.
func (c *checker) key() string { return c.where[len(c.where)-1].name }

// placesOf names an index of the items of a list by the text of a field.
type placesOf struct {
	list  document.Value
	name  string
	sound bool // items that were found wrong are left out
}

// fewItems is up to how many items a list is looked through rather than indexed.
const fewItems = 16

// first returns the number of the first item whose field has that text, or -1.
func (c *checker) first(list document.Value, name, text string, sound bool) int {
	if list.Kind() != document.List {
		return -1
	}
	if list.Len() <= fewItems {
		for i := range list.Len() {
			if item := list.At(i); textOf(item, name) == text && (!sound || c.isSound(item)) {
				return i
			}
		}
		return -1
	}
	if i, ok := c.index(placesOf{list, name, sound})[text]; ok {
		return i
	}
	return -1
}

func (c *checker) index(of placesOf) map[string]int {
	if index, ok := c.places[of]; ok {
		return index
	}
	index := make(map[string]int, of.list.Len())
	for i := range of.list.Len() {
		item := of.list.At(i)
		text := textOf(item, of.name)
		if _, ok := index[text]; !ok && (!of.sound || c.isSound(item)) {
			index[text] = i
		}
	}
	c.keepIndex(of, index)
	return index
}

func (c *checker) keepIndex(of placesOf, index map[string]int) {
	if c.places == nil {
		c.places = map[placesOf]map[string]int{}
	}
	c.places[of] = index
}

// isSound reports whether nothing was found wrong with a value.
func (c *checker) isSound(v document.Value) bool { return !c.faulty[v] }

// textOf returns the text of an item's field, or of the item if the name is empty.
func textOf(item document.Value, name string) string {
	if name != "" {
		item = item.Get(name)
	}
	return item.Text()
}

// isNothing reports whether there is no value: null is none either.
func isNothing(v document.Value) bool {
	k := v.Kind()
	return k == document.Absent || k == document.Null
}

// isEmpty reports whether a value is what Go calls zero, or has nothing in it.
func isEmpty(v document.Value) bool {
	switch v.Kind() {
	case document.String:
		return v.Text() == ""
	case document.Number:
		return v.Text() == "0"
	case document.Bool:
		return !v.Bool()
	case document.List, document.Map:
		return v.Len() == 0
	}
	return true
}
