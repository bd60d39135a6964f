package builtin

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// operation is the effect of a defaulting rule on its target.
type operation uint8

const (
	setIfUnset operation = iota // sets the target if it is unset
	setAlways                   // sets the target even if it is set
	mergeKeys                   // adds the keys of the source that the target lacks; both are maps
	dropField                   // removes the target
	roundUp                     // rounds the quantities in the target, a map, up to thousandths
	callStep                    // calls a Go function on the struct
)

// rule is a defaulting rule: a line of a section "defaults" of a kind file. Invariants:
//
//	operation == callStep                   only step is set
//	operation == setIfUnset or setAlways    exactly one of value, source and now is set
//	operation == mergeKeys                  source is set
type rule struct {
	operation   operation
	target      path
	value       document.Value
	source      *path
	currentTime bool
	conditions  []condition
	step        func(*structUpdate)
}

// path is the path from a struct to a field inside the struct.
type path struct {
	names   []pathElement
	sibling bool // sibling makes the path start at the struct that contains the rule's target.
}

// pathElement is a field in a path.
type pathElement struct {
	name string
	each bool // each makes the path continue in each item of the field, which is a list.
	// fieldType is the type of the field; pointer reports whether the field is a Go pointer.
	fieldType *Type
	pointer   bool
}

// isUnset reports whether v, a value of the field, is unset.
func (e *pathElement) isUnset(v document.Value) bool { return e.fieldType.isUnset(e.pointer, v) }

// isUnset reports whether v is unset, that is, whether Go decodes it like an absent field. The value of a pointer field is
// unset only if it is absent or null.
func (t *Type) isUnset(pointer bool, v document.Value) bool {
	switch {
	case v.IsAbsent() || v.IsNull():
		return true
	case pointer:
		return false
	}
	switch t.Kind {
	case List, Map:
		return v.Len() == 0
	case String:
		return v.Text() == ""
	case Bool:
		return !v.Bool()
	case Int32, Int64, IntOrString:
		return v.Text() == "" || v.Text() == "0"
	}
	return false
}

func (p *path) last() *pathElement { return &p.names[len(p.names)-1] }

// apply applies the rule to the struct that s updates.
func (r *rule) apply(s *structUpdate) {
	if r.operation == callStep {
		r.step(s)
		return
	}
	first := &r.target.names[0]
	old := s.get(first.name)
	var value document.Value
	if len(r.target.names) == 1 && !first.each {
		value = r.newValue(s, nil, first, old)
	} else {
		value = r.applyToElement(s, first, r.target.names[1:], old)
	}
	if !document.Same(value, old) {
		s.set(first.name, value)
	}
}

// applyToElement returns v, the value of the path element name, after the rule is applied to the fields that rest, the
// remaining elements of the path, selects inside v.
func (r *rule) applyToElement(s *structUpdate, name *pathElement, rest []pathElement, v document.Value) document.Value {
	if name.each {
		change := s.b.Rebuild(v)
		for i, item := range v.Items() {
			change.Add(i, "", r.applyToFields(s, rest, item), item)
		}
		return change.Finish()
	}
	if !v.IsAbsent() && !v.IsNull() {
		return r.applyToFields(s, rest, v)
	}
	if name.pointer || name.fieldType.Kind != Struct && name.fieldType.Kind != Map {
		return v // Kubernetes' defaulting does not allocate a nil pointer
	}
	empty := document.NewMap()
	if made := r.applyToFields(s, rest, empty); !document.Same(made, empty) {
		return made
	}
	return v
}

// applyToFields returns v, a struct or map, after the rule is applied to the fields that the path elements in names select
// inside v.
func (r *rule) applyToFields(s *structUpdate, names []pathElement, v document.Value) document.Value {
	if v.Kind() != document.Map {
		return v
	}
	name := &names[0]
	old := v.Get(name.name)
	var value document.Value
	if len(names) == 1 && !name.each {
		value = r.newValue(s, &v, name, old)
	} else {
		value = r.applyToElement(s, name, names[1:], old)
	}
	if document.Same(value, old) {
		return v
	}
	return v.With(name.name, value)
}

// newValue returns the new value of the rule's target, whose current value is old. holder is the struct that contains the
// target; nil means the struct that s updates.
func (r *rule) newValue(s *structUpdate, holder *document.Value, target *pathElement, old document.Value) document.Value {
	if r.operation == setIfUnset && !target.isUnset(old) {
		return old
	}
	for i := range r.conditions {
		if !r.conditions[i].holds(s, holder) {
			return old
		}
	}
	switch r.operation {
	case dropField:
		return document.Value{}
	case roundUp:
		return roundAll(s.b, old)
	case mergeKeys:
		return mergeMissing(old, s.lookup(r.source, holder))
	}
	switch {
	case r.currentTime:
		return document.NewString(time.Now().UTC().Format(time.RFC3339))
	case r.source != nil:
		value := s.lookup(r.source, holder)
		if r.source.last().isUnset(value) || document.Equal(value, old) {
			return old
		}
		return value
	case document.Equal(r.value, old):
		return old
	}
	return r.value
}

// mergeMissing returns target with the fields of source whose keys target does not contain. Both are maps.
func mergeMissing(target, source document.Value) document.Value {
	result := target
	for name, value := range source.Fields() {
		if result.Get(name).IsAbsent() {
			result = result.With(name, value)
		}
	}
	return result
}

// roundAll returns v, a map of quantities, with each quantity rounded up to thousandths.
func roundAll(b *fastdoc.Builder, v document.Value) document.Value {
	change := b.Rebuild(v)
	for i := range v.Len() {
		name, old := v.Field(i)
		change.Add(i, name, roundQuantity(old), old)
	}
	return change.Finish()
}

func roundQuantity(v document.Value) document.Value {
	if isCanonicalQuantity(v.Text()) {
		return v // canonical quantities are multiples of a thousandth
	}
	q, err := ParseQuantity(v.Text())
	if err != nil {
		return v // decoding rejects invalid quantities
	}
	q.RoundUp(resource.Milli)
	return replaceText(v, q.String())
}

// condition is a condition of a defaulting rule: a test of the field at a path. For the test isOneOf, values are the accepted
// values.
type condition struct {
	test   test
	path   path
	values []string
}

type test uint8

const (
	isSet test = iota
	isUnset
	isAbsent
	isOneOf
	isLatest
	isOnlyField
)

func (c *condition) holds(s *structUpdate, holder *document.Value) bool {
	if c.test == isOnlyField {
		return s.hasOnlyField(c.path.last().name)
	}
	v := s.lookup(&c.path, holder)
	switch c.test {
	case isSet:
		return !c.path.last().isUnset(v)
	case isUnset:
		return c.path.last().isUnset(v)
	case isAbsent:
		return v.IsAbsent() || v.IsNull()
	case isLatest:
		return hasLatestTag(v.Text())
	}
	switch v.Kind() {
	case document.String, document.Number:
		return slices.Contains(c.values, v.Text())
	case document.Bool:
		return slices.Contains(c.values, v.JSON())
	}
	return false
}
