package apply

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// elements returns the path element of every item of a granular list. Items that
// have none get the zero element; the first problem is returned with its place.
//
// All elements of a list are spelled into one buffer, so that a list costs two
// allocations however long it is.
func elements(l *schema.List, list document.Value) ([]fieldset.Element, *itemError) {
	count := list.Len()
	if count == 0 {
		return nil, nil
	}
	var first *itemError
	var kind fieldset.ElementKind
	var spelledArray [512]byte
	spelled := spelledArray[:0]
	var endsArray [32]int
	ends := endsArray[:0]
	for i := range count {
		start := len(spelled)
		var problem string
		if kind, spelled, problem = spellElement(spelled, l, list.At(i)); problem != "" {
			spelled = spelled[:start]
			if first == nil {
				first = &itemError{i, problem}
			}
		}
		ends = append(ends, len(spelled))
	}
	text := string(spelled)
	out := make([]fieldset.Element, count)
	start := 0
	for i, end := range ends {
		if end > start {
			out[i] = fieldset.SpelledElement(kind, text[start:end])
		}
		start = end
	}
	return out, first
}

// itemError says which item of a list has no path element, and why.
type itemError struct {
	index   int
	problem string
}

// spellElement appends the path element of an item as FieldsV1 spells it, or says why it
// has none.
func spellElement(dst []byte, l *schema.List, item document.Value) (kind fieldset.ElementKind, spelled []byte, problem string) {
	if l.Relationship == schema.Keyed {
		spelled, problem = appendKey(dst, l, item)
		return fieldset.Key, spelled, problem
	}
	spelled, problem = appendSetValue(dst, item)
	return fieldset.SetValue, spelled, problem
}

// elementOf returns the path element of one item; ok is false if it has none.
func elementOf(l *schema.List, item document.Value) (e fieldset.Element, ok bool) {
	var array [256]byte
	kind, spelled, problem := spellElement(array[:0], l, item)
	return fieldset.SpelledElement(kind, string(spelled)), problem == ""
}

func appendSetValue(dst []byte, item document.Value) ([]byte, string) {
	if !item.IsScalar() {
		return dst, fmt.Sprintf("expected a string, number or boolean, as the list is a set; received %s", describe(item))
	}
	return fieldset.AppendValue(dst, item), ""
}

// appendKey spells the key of an item. A key field that is missing takes its
// default; without one it is left out of the key.
func appendKey(dst []byte, l *schema.List, item document.Value) ([]byte, string) {
	if item.Kind() != document.Map {
		return dst, fmt.Sprintf("expected a map with the key %s, received %s", keyNames(l), describe(item))
	}
	start := len(dst)
	dst = append(dst, '{')
	for _, key := range sortedKeys(l) {
		value := keyOf(key, item)
		if value.IsAbsent() {
			continue
		}
		if len(dst) > start+1 {
			dst = append(dst, ',')
		}
		dst = fieldset.AppendKeyField(dst, key.Name, value)
	}
	if len(dst) == start+1 {
		return dst, fmt.Sprintf("expected the key %s that tells the items of this list apart, received %s; add it", keyNames(l), describe(item))
	}
	return append(dst, '}'), ""
}

// sameItem reports whether two items of a granular list have the same path element.
func sameItem(l *schema.List, a, b document.Value) bool {
	if document.Same(a, b) {
		return true
	}
	if l.Relationship != schema.Keyed {
		return document.Equal(a, b)
	}
	if a.Kind() != document.Map || b.Kind() != document.Map {
		return false
	}
	for _, key := range l.Keys {
		if !document.Equal(keyOf(key, a), keyOf(key, b)) {
			return false
		}
	}
	return true
}

// keyOf returns the value of one key of an item, absent if it has none.
func keyOf(key schema.Key, item document.Value) document.Value {
	if v := item.Get(key.Name); !v.IsAbsent() {
		return v
	}
	return key.Default
}

// sortedKeys returns the keys of a list in the order of their names, in which
// path elements have them.
func sortedKeys(l *schema.List) []schema.Key {
	byName := func(a, b schema.Key) int { return strings.Compare(a.Name, b.Name) }
	if len(l.Keys) < 2 || slices.IsSortedFunc(l.Keys, byName) {
		return l.Keys
	}
	return slices.SortedFunc(slices.Values(l.Keys), byName)
}

func keyNames(l *schema.List) string {
	names := make([]string, len(l.Keys))
	for i, key := range l.Keys {
		names[i] = key.Name
	}
	return strings.Join(names, ", ")
}

// index finds items of a list by their element.
type index struct {
	elements []fieldset.Element
	// places maps an element to the first item that has it; it is nil for lists
	// that are short enough to look through.
	places map[fieldset.Element]int
}

const shortList = 8

func newIndex(elements []fieldset.Element) index {
	x := index{elements: elements}
	if len(elements) > shortList {
		x.places = make(map[fieldset.Element]int, len(elements))
		for i := len(elements) - 1; i >= 0; i-- {
			x.places[elements[i]] = i
		}
	}
	return x
}

// find returns the first item with the element, -1 if there is none.
func (x index) find(e fieldset.Element) int {
	if x.places == nil {
		return slices.Index(x.elements, e)
	}
	if i, ok := x.places[e]; ok {
		return i
	}
	return -1
}

// duplicates returns, for every item, whether another item has the same element;
// nil if no two do.
func (x index) duplicates() []bool {
	var repeated []bool
	for i, e := range x.elements {
		if first := x.find(e); first != i {
			if repeated == nil {
				repeated = make([]bool, len(x.elements))
			}
			repeated[first], repeated[i] = true, true
		}
	}
	return repeated
}
