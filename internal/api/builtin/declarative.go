package builtin

import (
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
)

// declaredType is the declarative validation of a struct: the part of kube-apiserver's validation that is generated from the
// validation tags of Go types. Fields without effect are omitted; a struct without effective fields has no declaredType.
type declaredType struct {
	rules  []tagRule // rules depend on several fields of the struct, such as unions.
	fields []declaredField
}

// declaredField is the declarative validation of a field of a struct. Fields are in the order of the Go struct.
type declaredField struct {
	name     string
	position int // position is the position of the Field.
	typ      *Type
	pointer  bool
	// skipIfAbsent skips the field if it is absent, because its tags accept an absent value.
	skipIfAbsent bool
	// first are the rules that, if they fail, skip the rest of the field's validation, including nested values.
	first, rest []tagRule
	subfields   []declaredField // subfields are the fields of the value for which this field has subfield tags.
	// nested validates the value, the items or the map values, if they are structs; nil if there is nothing to validate.
	nested *declaredType
	items  listMatch
}

// tagRule is a compiled validation tag.
type tagRule struct {
	level tagLevel
	check tagCheck
}

// tagCheck validates a value by a tag, and adds the errors to c. It returns false if it has added an error, or if the field has no
// value to validate.
type tagCheck func(c *checker, v revision) bool

// tagLevel is the stability of a validation tag.
type tagLevel uint8

const (
	// tagStable marks tags without a level. Their errors are reported in addition to those of kind files.
	tagStable tagLevel = iota
	// tagBeta marks tags whose errors replace errors of kind files with equal type, path and origin.
	tagBeta
	// tagAlpha marks tags whose errors are not reported.
	tagAlpha
)

// revision is a value and, in an update, the value that it replaces.
type revision struct {
	value, old document.Value
	// correlated reports whether the update replaces old, which can be absent. It is false for new list items and in a create.
	correlated bool
}

// field returns the revision of the field of v with the given name.
func (v revision) field(name string) revision {
	return revision{v.value.Get(name), v.old.Get(name), v.correlated}
}

// The origins of errors that rules in kind files and validation tags have in common. Formats have origins of their own.
const (
	originImmutable = "immutable"
	originMinimum   = "minimum"
	originMaximum   = "maximum"
	originUpdate    = "update"
	originUnion     = "union"
	originZeroOrOne = "zeroOrOneOf"
)

// runDeclared adds the errors of the declarative validation of obj, and removes the errors of kind files that they replace.
func (c *checker) runDeclared(t *declaredType, obj, old document.Value) {
	n := len(c.errs)
	c.checkDeclared(t, revision{obj, old, c.updating})
	if n == 0 || len(c.errs) == n {
		return
	}
	replaced := map[errorCause]bool{}
	for _, e := range c.errs[n:] {
		if e.IsBeta() {
			replaced[causeOf(e)] = true
		}
	}
	kept := c.errs[:0]
	for i, e := range c.errs {
		if i >= n || !replaced[causeOf(e)] || e.Type == field.ErrorTypeInvalid && e.Origin == "" {
			kept = append(kept, e)
		}
	}
	c.errs = kept
}

// errorCause identifies the errors of kind files that an error of declarative validation replaces. It includes the origin of
// the error, because a value can be invalid in several ways.
type errorCause struct {
	kind         field.ErrorType
	path, origin string
}

func causeOf(e *field.Error) errorCause {
	cause := errorCause{kind: e.Type, path: e.Field}
	if e.Type == field.ErrorTypeInvalid {
		cause.origin = e.Origin
	}
	return cause
}

// checkDeclared validates v, a struct.
func (c *checker) checkDeclared(t *declaredType, v revision) {
	c.runTags(t.rules, v)
	for i := range t.fields {
		c.checkDeclaredField(&t.fields[i], v.field(t.fields[i].name))
	}
}

// checkDeclaredField validates v, the value of a field. An update that does not change the value has no errors, even if it is
// invalid (ratcheting). Values are compared only if there are errors, which is rare.
func (c *checker) checkDeclaredField(f *declaredField, v revision) {
	if f.skipIfAbsent && v.value.IsAbsent() || c.isFull() {
		return
	}
	before := len(c.errs)
	c.push(f.name)
	c.checkDeclaredValue(f, v)
	c.pop()
	if len(c.errs) > before && c.updating && v.correlated && semanticEqual(f.typ, f.pointer, v.value, v.old) {
		c.errs = c.errs[:before]
	}
}

func (c *checker) checkDeclaredValue(f *declaredField, v revision) {
	for i := range f.subfields {
		c.checkDeclaredField(&f.subfields[i], v.field(f.subfields[i].name))
	}
	if !c.runTags(f.first, v) {
		return
	}
	c.runTags(f.rest, v)
	if f.nested == nil {
		return
	}
	switch f.typ.Kind {
	case List:
		f.items.each(c, f.typ.Elem, v, func(item revision) { c.checkDeclared(f.nested, item) })
	case Map:
		for key, value := range v.value.Fields() {
			if c.isFull() {
				return
			}
			old := v.old.Get(key)
			c.pushKey(key)
			c.checkDeclared(f.nested, revision{value, old, !old.IsAbsent()})
			c.pop()
		}
	default:
		if isAbsentOrNull(v.value) && f.pointer {
			return
		}
		v.correlated = v.correlated && !(f.pointer && isAbsentOrNull(v.old))
		c.checkDeclared(f.nested, v)
	}
}

// runTags runs rules on v, and reports whether all of them passed.
func (c *checker) runTags(rules []tagRule, v revision) bool {
	passed := true
	for i := range rules {
		before := len(c.errs)
		if !rules[i].check(c, v) {
			passed = false
		}
		switch rules[i].level {
		case tagAlpha:
			c.errs = c.errs[:before]
		case tagBeta:
			c.errs[before:].MarkBeta()
		}
	}
	return passed
}

// isDeclaredZero reports whether Go decodes v, the value of a field, as the zero value of the field.
func isDeclaredZero(t *Type, pointer bool, v document.Value) bool {
	switch {
	case isAbsentOrNull(v):
		return pointer || t.Kind != Struct
	case t.Kind == List || t.Kind == Map:
		return v.Len() == 0
	case pointer || t.Kind == Struct:
		return false
	}
	return isEmpty(v)
}

// listMatch correlates the items of a list with those of the list that an update replaces.
type listMatch struct {
	// keys are the fields that identify an item of a list of type map. byValue reports whether the list is a set, whose items are
	// identified by their value. Otherwise items are not correlated.
	keys    []string
	byValue bool
}

// each calls check with each item of v, a list with items of type elem, except items that the update does not change.
func (m listMatch) each(c *checker, elem *Type, v revision, check func(item revision)) {
	old := m.index(v.old)
	for i := 0; i < v.value.Len() && !c.isFull(); i++ {
		item := revision{value: v.value.At(i)}
		if j, ok := old[m.key(item.value)]; ok && c.updating {
			item.old, item.correlated = v.old.At(j), true
			if m.byValue || semanticEqual(elem, false, item.value, item.old) {
				continue
			}
		}
		c.pushItem(i)
		check(item)
		c.pop()
	}
}

// index returns a map from the keys of items to the index of the first item with the key; nil if items are not correlated.
func (m listMatch) index(list document.Value) map[string]int {
	if len(m.keys) == 0 && !m.byValue || list.Kind() != document.List {
		return nil
	}
	index := make(map[string]int, list.Len())
	for i := range list.Len() {
		key := m.key(list.At(i))
		if _, ok := index[key]; !ok {
			index[key] = i
		}
	}
	return index
}

// key returns a string that is equal for two items if and only if they have the same identity.
func (m listMatch) key(item document.Value) string {
	if m.byValue {
		return scalarText(item)
	}
	key := ""
	for _, name := range m.keys {
		key += scalarText(item.Get(name)) + "\x00"
	}
	return key
}
