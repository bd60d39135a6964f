package builtin

import (
	"github.com/cadastre/cadastre/document"
)

// block is a named list of statements in a kind file: the validation rules or the warnings of a type or of a kind.
type block struct {
	name       string
	namespaced bool // namespaced reports whether objects of the kind are namespaced.
	review     bool // review reports whether the kind is a review, whose objects are not stored and have no name.
	// checksNames reports whether the statements include the check object-meta, which validates metadata.name.
	checksNames bool
	statements  []statement
}

// statement is one line of a block: checks of the values that a path selects, or a condition with the statements that
// depend on it.
type statement struct {
	// skipIfAbsent skips the statement if the first field of the path is absent.
	skipIfAbsent bool
	path         []step
	reportPath   []step // reportPath is the path in errors, relative to the block's value; nil means the path of the value.
	checks       []check

	condition       *ruleCondition
	then, otherwise []statement
}

// check validates a value and adds the errors to c. old is the value before the update; absent on create. It returns false to
// skip the remaining checks of the statement.
type check func(c *checker, value, old document.Value) bool

// ruleCondition is the condition of an if statement: a test of the value at a path in the statement's block or in an
// enclosing block.
type ruleCondition struct {
	scope  string // scope is the name of the enclosing block; "" means the statement's own block.
	path   []step
	useOld bool // useOld makes the condition test the value before the update instead of the current value.
	test   func(c *checker, v document.Value) bool
}

// run runs the statements of b on value. If a statement adds an error, run records value in invalidValues.
func (c *checker) run(b *block, value, old document.Value) {
	before := len(c.errs)
	c.scopes = append(c.scopes, scope{b, value, old})
	c.runStatements(b.statements, value, old)
	c.scopes = c.scopes[:len(c.scopes)-1]
	if len(c.errs) > before {
		if c.invalidValues == nil {
			c.invalidValues = map[document.Value]bool{}
		}
		c.invalidValues[value] = true
	}
}

func (c *checker) runStatements(statements []statement, value, old document.Value) {
	for i := range statements {
		if c.isFull() {
			return
		}
		s := &statements[i]
		if s.condition != nil {
			if c.evaluate(s.condition, value, old) {
				c.runStatements(s.then, value, old)
			} else {
				c.runStatements(s.otherwise, value, old)
			}
			continue
		}
		if s.skipIfAbsent && value.Get(s.path[0].name).IsAbsent() {
			continue // most optional fields are absent
		}
		base, elsewhere := c.base, c.reportPath
		c.base, c.reportPath = len(c.path), s.reportPath
		c.walk(s, s.path, value, old)
		c.base, c.reportPath = base, elsewhere
	}
}

func (c *checker) evaluate(cond *ruleCondition, value, old document.Value) bool {
	if cond.scope != "" {
		var ok bool
		if value, old, ok = c.enclosing(cond.scope); !ok {
			return false
		}
	}
	if cond.useOld {
		value = old
	}
	for _, s := range cond.path {
		value = value.Get(s.name)
	}
	return cond.test(c, value)
}

// walk runs the checks of s on every value inside current that rest, the remaining steps of the path of s, selects. old is
// the value before the update at the path of current.
func (c *checker) walk(s *statement, rest []step, current, old document.Value) {
	if len(rest) == 0 {
		c.runChecks(s.checks, current, old)
		return
	}
	switch rest[0].kind {
	case stepField:
		name := rest[0].name
		c.push(name)
		c.walk(s, rest[1:], current.Get(name), old.Get(name))
		c.pop()
	case stepItem:
		c.walkItems(s, rest[1:], current)
	case stepKey:
		if current.Kind() != document.Map {
			return
		}
		for i := 0; i < current.Len() && !c.isFull(); i++ {
			key, value := current.Field(i)
			c.pushKey(key)
			c.walk(s, rest[1:], value, old.Get(key))
			c.pop()
		}
	}
}

func (c *checker) walkItems(s *statement, rest []step, list document.Value) {
	if list.Kind() != document.List {
		return
	}
	outer, item := c.list, c.item
	for i := 0; i < list.Len() && !c.isFull(); i++ {
		c.list, c.item = list, i
		c.pushItem(i)
		c.walk(s, rest, list.At(i), document.Value{})
		c.pop()
	}
	c.list, c.item = outer, item
}

func (c *checker) runChecks(checks []check, value, old document.Value) {
	for _, check := range checks {
		if !check(c, value, old) {
			return
		}
	}
}

// key returns the name of the last step of the current path: the name of a field or the key of a map.
func (c *checker) key() string { return c.path[len(c.path)-1].name }

// indexKey identifies an index of a list: a map from the string value of the field with the given name to the first item with
// that value.
type indexKey struct {
	list      document.Value
	name      string
	validOnly bool // validOnly excludes items with validation errors from the index.
}

// maxLinearSearch is the maximum number of list items that are searched without an index.
const maxLinearSearch = 16

// firstIndex returns the index in list of the first item whose field with the given name equals text; -1 if there is none. If
// validOnly is set, firstIndex ignores items with validation errors.
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

// isValid reports whether no error has been found so far in v, a value to which a block was applied.
func (c *checker) isValid(v document.Value) bool { return !c.invalidValues[v] }

// fieldText returns the string value of the field of item with the given name, or of item itself if name is "".
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

// isEmpty reports whether a value is absent, null, "", 0, false, or an empty list or map.
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
