package strategic

import (
	"fmt"
	"strings"
	"sync"
)

// Type has the patch strategies of a kind. It is safe for concurrent use, and loads the types of its fields on demand.
// A nil Type merges maps and replaces lists.
type Type struct {
	once sync.Once
	load func(*Type) // what fills it when it is first used, if anything

	fields  map[string]*field
	element *field // all other fields, if not nil
}

// field is how one field of a map is patched.
type field struct {
	strategy
	typ *Type // of the field; of its items if it is a list
}

// strategy is what a kind declares about a field.
type strategy struct {
	merge      bool   // of a list: items are merged, by key or by value
	replace    bool   // of a map: it is replaced as a whole
	retainKeys bool   // patches that are made say which fields stay
	key        string // of a list of maps: the field that tells its items apart
}

// undeclared is how a field is patched that nothing is known about.
var undeclared field

// field returns how the field of that name is patched.
func (t *Type) field(name string) *field {
	if t == nil {
		return &undeclared
	}
	if t.load != nil {
		t.once.Do(func() { t.load(t) })
	}
	if f := t.fields[name]; f != nil {
		return f
	}
	if t.element != nil {
		return t.element
	}
	return &undeclared
}

// readStrategy reads what tags and extensions say: one strategy, or two of which one is
// retainKeys.
func readStrategy(tag, key string) (strategy, error) {
	s := strategy{key: key}
	for word := range strings.SplitSeq(tag, ",") {
		switch word {
		case "":
		case "merge":
			s.merge = true
		case "replace":
			s.replace = true
		case "retainKeys":
			s.retainKeys = true
		default:
			return s, fmt.Errorf("patch strategy: expected merge, replace or retainKeys, received %q", word)
		}
	}
	if s.merge && s.replace {
		return s, fmt.Errorf("patch strategy: expected merge or replace, received both in %q", tag)
	}
	return s, nil
}
