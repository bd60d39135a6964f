package builtin

import (
	"github.com/cadastre/cadastre/document"
)

// block is a named list of statements: the validation rules or warnings of a type or of a kind.
type block struct {
	name       string
	namespaced bool // objects of the kind are namespaced
	review     bool // objects of the kind are reviews, which are not stored and have no name
	// checksNames reports whether the rules include object-meta, which validates the name.
	checksNames bool
	statements  []statement
}

// statement is one line of rules: checks of the value at a path, or a condition with the statements that depend on it.
type statement struct {
	// skipIfAbsent skips the statement if the first field of the path is absent.
	skipIfAbsent bool
	path         []step
	reportPath   []step // the path of errors, relative to the block; nil for the path of the value
	checks       []check

	condition       *ruleCondition
	then, otherwise []statement
}

// check validates a value, given its previous value. It returns false to skip the remaining checks of the statement.
type check func(c *checker, now, old document.Value) bool

// ruleCondition is the condition of an if statement: a test of a value of this block or of an enclosing one.
type ruleCondition struct {
	scope  string // the name of the enclosing block; "" for this block
	path   []step
	useOld bool // tests the previous value instead of the current one
	test   func(c *checker, v document.Value) bool
}

// run validates a value with the rules of a block.
func (c *checker) run(b *block, now, old document.Value) {
	before := len(c.errs)
	c.scopes = append(c.scopes, scope{b, now, old})
	c.runStatements(b.statements, now, old)
	c.scopes = c.scopes[:len(c.scopes)-1]
	if len(c.errs) > before {
		if c.invalidValues == nil {
			c.invalidValues = map[document.Value]bool{}
		}
		c.invalidValues[now] = true
	}
}

func (c *checker) runStatements(statements []statement, now, old document.Value) {
	for i := range statements {
		s := &statements[i]
		if s.condition != nil {
			if c.evaluate(s.condition, now, old) {
				c.runStatements(s.then, now, old)
			} else {
				c.runStatements(s.otherwise, now, old)
			}
			continue
		}
		if s.skipIfAbsent && now.Get(s.path[0].name).IsAbsent() {
			continue // most optional fields are absent
		}
		base, elsewhere := c.base, c.reportPath
		c.base, c.reportPath = len(c.path), s.reportPath
		c.walk(s, s.path, now, old)
		c.base, c.reportPath = base, elsewhere
	}
}

func (c *checker) evaluate(cond *ruleCondition, now, old document.Value) bool {
	if cond.scope != "" {
		var ok bool
		if now, old, ok = c.enclosing(cond.scope); !ok {
			return false
		}
	}
	if cond.useOld {
		now = old
	}
	for _, s := range cond.path {
		now = now.Get(s.name)
	}
	return cond.test(c, now)
}

// walk follows the remaining steps of a statement's path, and runs its checks on every value that the path selects.
func (c *checker) walk(s *statement, rest []step, now, old document.Value) {
	if len(rest) == 0 {
		c.runChecks(s.checks, now, old)
		return
	}
	switch rest[0].kind {
	case stepField:
		name := rest[0].name
		c.push(name)
		c.walk(s, rest[1:], now.Get(name), old.Get(name))
		c.pop()
	case stepItem:
		c.eachItem(s, rest[1:], now)
	case stepKey:
		if now.Kind() != document.Map {
			return
		}
		for i := range now.Len() {
			key, value := now.Field(i)
			c.pushKey(key)
			c.walk(s, rest[1:], value, old.Get(key))
			c.pop()
		}
	}
}

func (c *checker) eachItem(s *statement, rest []step, list document.Value) {
	if list.Kind() != document.List {
		return
	}
	outer, item := c.list, c.item
	for i := range list.Len() {
		c.list, c.item = list, i
		c.pushItem(i)
		c.walk(s, rest, list.At(i), document.Value{})
		c.pop()
	}
	c.list, c.item = outer, item
}

func (c *checker) runChecks(checks []check, now, old document.Value) {
	for _, check := range checks {
		if !check(c, now, old) {
			return
		}
	}
}

// key returns the last step of the current path: the field's name or the map's key.
func (c *checker) key() string { return c.path[len(c.path)-1].name }

// indexKey identifies an index of list items by the string value of a field.
type indexKey struct {
	list      document.Value
	name      string
	validOnly bool // items with validation errors are left out
}

// maxLinearSearch is the maximum number of list items that are searched without an index.
const maxLinearSearch = 16

// firstIndex returns the index of the first item whose field has the given string value; -1 if there is none.
func (c *checker) firstIndex(list document.Value, name, text string, validOnly bool) int {
	if list.Kind() != document.List {
		return -1
	}
	if list.Len() <= maxLinearSearch {
		for i := range list.Len() {
			if item := list.At(i); fieldText(item, name) == text && (!validOnly || c.isValid(item)) {
				return i
			}
		}
		return -1
	}
	if i, ok := c.index(indexKey{list, name, validOnly})[text]; ok {
		return i
	}
	return -1
}

func (c *checker) index(of indexKey) map[string]int {
	if index, ok := c.indexes[of]; ok {
		return index
	}
	index := make(map[string]int, of.list.Len())
	for i := range of.list.Len() {
		item := of.list.At(i)
		text := fieldText(item, of.name)
		if _, ok := index[text]; !ok && (!of.validOnly || c.isValid(item)) {
			index[text] = i
		}
	}
	c.storeIndex(of, index)
	return index
}

func (c *checker) storeIndex(of indexKey, index map[string]int) {
	if c.indexes == nil {
		c.indexes = map[indexKey]map[string]int{}
	}
	c.indexes[of] = index
}

// isValid reports whether no error was found in a value so far.
func (c *checker) isValid(v document.Value) bool { return !c.invalidValues[v] }

// fieldText returns the string value of an item's field, or of the item itself if name is "".
func fieldText(item document.Value, name string) string {
	if name != "" {
		item = item.Get(name)
	}
	return item.Text()
}

// isAbsentOrNull reports whether a value is absent or null.
func isAbsentOrNull(v document.Value) bool {
	k := v.Kind()
	return k == document.Absent || k == document.Null
}

// isEmpty reports whether a value is absent, null, an empty list or map, or the zero value of its Go type.
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
