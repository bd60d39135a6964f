package apply

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
	"github.com/cadastre/cadastre/internal/lib/fieldsv1"
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
			out[i] = fastset.Element(kind, text[start:end])
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
	return fastset.Element(kind, string(spelled)), problem == ""
}

func appendSetValue(dst []byte, item document.Value) ([]byte, string) {
	if !item.IsScalar() {
		return dst, fmt.Sprintf("expected a string, number or boolean, as the list is a set; received %s", describe(item))
	}
	return fieldsv1.AppendValue(dst, item), ""
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
		dst = fieldsv1.AppendKeyField(dst, key.Name, value)
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

// selected is an item of a list that a set says something about.
type selected struct {
	index    int  // its place in the list
	at       int  // the place of its element among the first elements of the set
	repeated bool // another item of the list has the same element
}

// fewElements is how many elements are looked for in a list one by one. For more, the
// elements of all items are made.
const fewElements = 4

// selectItems appends the items of a granular list whose elements a set begins with, in
// the order of the list.
func selectItems(to []selected, l *schema.List, list document.Value, set fieldset.Set) []selected {
	if set.Len() > fewElements {
		return selectByIndex(to, l, list, set)
	}
	var wanted [fewElements]struct {
		kind     fieldset.ElementKind
		spelling string
		last     int // the index in the result of the last item with the element, plus one
	}
	for at := range set.Len() {
		wanted[at].kind, wanted[at].spelling = fastset.Spelling(set.Element(at))
	}
	var array [256]byte
	for i := range list.Len() {
		kind, spelled, problem := spellElement(array[:0], l, list.At(i))
		if problem != "" {
			continue
		}
		for at := range wanted[:set.Len()] {
			w := &wanted[at]
			if w.kind != kind || w.spelling != string(spelled) {
				continue
			}
			repeated := w.last > 0
			if repeated {
				to[w.last-1].repeated = true
			}
			to = append(to, selected{i, at, repeated})
			w.last = len(to)
		}
	}
	return to
}

func selectByIndex(to []selected, l *schema.List, list document.Value, set fieldset.Set) []selected {
	items, _ := elements(l, list)
	repeated := newIndex(items).duplicates()
	for i, e := range items {
		if at, found := set.Find(e); found {
			to = append(to, selected{i, at, repeated != nil && repeated[i]})
		}
	}
	return to
}

// itemsOf selects the items of a granular list that a set begins with; of all else,
// nothing. They are in the order of the set, the first of those that are repeated first.
func itemsOf(to []selected, t *schema.Type, v document.Value, set fieldset.Set) []selected {
	if v.Kind() != document.List || t.List == nil || t.List.Relationship == schema.Atomic {
		return nil
	}
	to = selectItems(to, t.List, v, set)
	slices.SortStableFunc(to, func(a, b selected) int { return cmp.Compare(a.at, b.at) })
	return to
}

// childOf returns the field or item that an element selects, which is the one in the
// given place of the set; absent if there is none.
func childOf(v document.Value, items []selected, e fieldset.Element, at int) document.Value {
	if e.Kind() == fieldset.FieldName {
		return v.Get(e.Name())
	}
	if i, found := slices.BinarySearchFunc(items, at, func(s selected, at int) int { return cmp.Compare(s.at, at) }); found {
		return v.At(items[i].index)
	}
	return document.Value{}
}

// shape says how a value is taken apart.
type shape uint8

const (
	leaf    shape = iota // not at all: it is a scalar, or atomic
	byField              // it is a granular map, or null in the place of one
	byItem               // it is a granular list, or null in the place of one
)

// shapeOf returns how a value is taken apart where a topology may be missing: what is
// not declared is untyped.
func shapeOf(t *schema.Type, v document.Value) shape {
	if t == nil {
		t = schema.Untyped
	}
	switch t.Resolve(v.Kind()) {
	case schema.MapAlternative:
		if !t.Map.Atomic {
			return byField
		}
	case schema.ListAlternative:
		if t.List.Relationship != schema.Atomic {
			return byItem
		}
	}
	return leaf
}

// fieldType returns the topology of a field, declared or not, of a value that is taken
// apart by field, and whether it is declared.
func fieldType(t *schema.Type, name string) (field *schema.Type, declared bool) {
	if t == nil {
		return schema.Untyped, false
	}
	if field, declared = t.Map.TypeOf(name); field == nil {
		field = schema.Untyped
	}
	return field, declared
}

// isRecorded reports whether a declared field with this value is owned for itself: it
// is a leaf, or there is nothing inside that could be owned instead.
func isRecorded(t *schema.Type, v document.Value) bool {
	return v.IsNull() || isEmptyMap(v) || shapeOf(t, v) == leaf
}

func isEmptyMap(v document.Value) bool { return v.Kind() == document.Map && v.Len() == 0 }
