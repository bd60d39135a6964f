package strategic

import (
	"fmt"
	"strings"
	"sync"
)

// Type contains the patch strategies of a kind's fields. It is safe for concurrent use, and loads the types of its
// fields on demand. A nil Type merges maps and replaces lists.
type Type struct {
	once sync.Once
	load func(*Type) // sets fields and element on first use; may be nil

	fields  map[string]*field
	element *field // strategy and type of all fields that are not in fields; may be nil
}

// field is the patch strategy and type of one field of a map.
type field struct {
	strategy
	typ *Type // type of the field, or of its items if it is a list; may be nil
}

// strategy is the declared patch strategy of a field.
type strategy struct {
	merge      bool   // of a list: items are merged, by merge key or by value
	replace    bool   // of a map: it is replaced as a whole instead of merged
	retainKeys bool   // of a map: computed patches contain $retainKeys
	key        string // of a list of maps: the merge key
}

// undeclaredField is a field for which no patch strategy is declared.
var undeclaredField field

// field returns the patch strategy and type of the named field, or undeclaredField if the Type does not contain the
// field.
func (t *Type) field(name string) *field {
	if t == nil {
		return &undeclaredField
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
	return &undeclaredField
}

// readStrategy parses the value of a patchStrategy tag or x-kubernetes-patch-strategy extension: merge or replace,
// optionally with retainKeys. key is the merge key.
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
