package builtin

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// operation is what a rule does to its target.
type operation uint8

const (
	give    operation = iota // a value if it is unset
	replace                  // it by a value
	merge                    // the keys that it lacks into it
	drop
	round // its quantities up
	perform
)

// rule is a line of a section of defaults. Invariants:
//
//	operation == perform              step != nil, and nothing else
//	operation == give or replace      one of value, source, now
//	operation == merge                source
type rule struct {
	operation  operation
	target     path
	value      document.Value
	source     *path
	now        bool
	conditions []condition
	step       func(*subject)
}

// path leads from a struct to a part of it.
type path struct {
	names    []pathName
	neighbor bool // it starts at the struct that holds the rule's target
}

// pathName is a name in a path.
type pathName struct {
	name string
	each bool // it is a list, and the path goes on in each item
	// of and pointer are as in Field.
	of      *Type
	pointer bool
}

// isUnset tells whether Go would see nothing in a value at the end of the path.
func (n *pathName) isUnset(v document.Value) bool { return n.of.isUnset(n.pointer, v) }

// isUnset tells whether Go would see nothing in a field of the type, which may be a pointer to it.
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

func (p *path) last() *pathName { return &p.names[len(p.names)-1] }

// follow does what the rule says.
func (r *rule) follow(s *subject) {
	if r.operation == perform {
		r.step(s)
		return
	}
	first := &r.target.names[0]
	old := s.get(first.name)
	var value document.Value
	if len(r.target.names) == 1 && !first.each {
		value = r.outcome(s, nil, first, old)
	} else {
		value = r.enter(s, first, r.target.names[1:], old)
	}
	if !document.Same(value, old) {
		s.set(first.name, value)
	}
}

// enter follows the rule in the value of a name, and returns the value as it is then.
func (r *rule) enter(s *subject, name *pathName, rest []pathName, v document.Value) document.Value {
	if name.each {
		change := s.b.Rebuild(v)
		for i, item := range v.Items() {
			change.Add(i, "", r.inside(s, rest, item), item)
		}
		return change.Finish()
	}
	if !v.IsAbsent() && !v.IsNull() {
		return r.inside(s, rest, v)
	}
	if name.pointer || name.of.Kind != Struct && name.of.Kind != Map {
		return v // it is not there, and Go has not got it always
	}
	empty := document.NewMap()
	if made := r.inside(s, rest, empty); !document.Same(made, empty) {
		return made
	}
	return v
}

// inside follows the rule in a struct or map that is on the way to the target.
func (r *rule) inside(s *subject, names []pathName, v document.Value) document.Value {
	if v.Kind() != document.Map {
		return v
	}
	name := &names[0]
	old := v.Get(name.name)
	var value document.Value
	if len(names) == 1 && !name.each {
		value = r.outcome(s, &v, name, old)
	} else {
		value = r.enter(s, name, names[1:], old)
	}
	if document.Same(value, old) {
		return v
	}
	return v.With(name.name, value)
}

// outcome returns what the target becomes. The holder is the struct that it is in, nil for the
// subject itself.
func (r *rule) outcome(s *subject, holder *document.Value, target *pathName, old document.Value) document.Value {
	if r.operation == give && !target.isUnset(old) {
		return old
	}
	for i := range r.conditions {
		if !r.conditions[i].holds(s, holder) {
			return old
		}
	}
	switch r.operation {
	case drop:
		return document.Value{}
	case round:
		return rounded(s.b, old)
	case merge:
		return merged(old, s.lookup(r.source, holder))
	}
	switch {
	case r.now:
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

// merged returns a map with the keys that it lacks from another.
func merged(to, from document.Value) document.Value {
	result := to
	for name, value := range from.Fields() {
		if result.Get(name).IsAbsent() {
			result = result.With(name, value)
		}
	}
	return result
}

// rounded returns a map with its quantities rounded up to thousandths.
func rounded(b *fastdoc.Builder, v document.Value) document.Value {
	change := b.Rebuild(v)
	for i := range v.Len() {
		name, old := v.Field(i)
		change.Add(i, name, roundedUp(old), old)
	}
	return change.Finish()
}

func roundedUp(v document.Value) document.Value {
	if isCanonicalQuantity(v.Text()) {
		return v // it knows no spelling of less than a thousandth
	}
	q, err := ParseQuantity(v.Text())
	if err != nil {
		return v // reading refuses it
	}
	q.RoundUp(resource.Milli)
	return respelled(v, q.String())
}

// condition is what must hold for a rule to be followed.
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
	isOnly
)

func (c *condition) holds(s *subject, holder *document.Value) bool {
	if c.test == isOnly {
		return s.hasOnly(c.path.last().name)
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
