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
		if kind, spelled, problem = appendElement(spelled, l, list.At(i)); problem != "" {
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

// appendElement appends the path element of an item as FieldsV1 spells it, or says why it
// has none.
func appendElement(dst []byte, l *schema.List, item document.Value) (kind fieldset.ElementKind, spelled []byte, problem string) {
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
	kind, spelled, problem := appendElement(array[:0], l, item)
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
		value := keyValue(key, item)
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
		if !document.Equal(keyValue(key, a), keyValue(key, b)) {
			return false
		}
	}
	return true
}

// keyValue returns the value of one key of an item, absent if it has none.
func keyValue(key schema.Key, item document.Value) document.Value {
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

// elementIndex finds items of a list by their element.
type elementIndex struct {
	elements []fieldset.Element
	// places maps an element to the first item that has it; it is nil for lists
	// that are short enough to look through.
	first map[fieldset.Element]int
}

const maxLinearItems = 8

func newElementIndex(elements []fieldset.Element) elementIndex {
	x := elementIndex{elements: elements}
	if len(elements) > maxLinearItems {
		x.first = make(map[fieldset.Element]int, len(elements))
		for i := len(elements) - 1; i >= 0; i-- {
			x.first[elements[i]] = i
		}
	}
	return x
}

// find returns the first item with the element, -1 if there is none.
func (x elementIndex) find(e fieldset.Element) int {
	if x.first == nil {
		return slices.Index(x.elements, e)
	}
	if i, ok := x.first[e]; ok {
		return i
	}
	return -1
}

// duplicates returns, for every item, whether another item has the same element;
// nil if no two do.
func (x elementIndex) duplicates() []bool {
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

// selectedItem is an item of a list that a set says something about.
type selectedItem struct {
	listIndex    int  // its place in the list
	setIndex       int  // the place of its element among the first elements of the set
	duplicate bool // another item of the list has the same element
}

// maxLinearElements is how many elements are looked for in a list one by one. For more, the
// elements of all items are made.
const maxLinearElements = 4

// selectItems appends the items of a granular list whose elements a set begins with, in
// the order of the list.
func selectItems(to []selectedItem, l *schema.List, list document.Value, set fieldset.Set) []selectedItem {
	if set.Len() > maxLinearElements {
		return selectByIndex(to, l, list, set)
	}
	var targets [maxLinearElements]struct {
		kind     fieldset.ElementKind
		text string
		last     int // the index in the result of the last item with the element, plus one
	}
	for at := range set.Len() {
		targets[at].kind, targets[at].text = fastset.Spelling(set.Element(at))
	}
	var array [256]byte
	for i := range list.Len() {
		kind, spelled, problem := appendElement(array[:0], l, list.At(i))
		if problem != "" {
			continue
		}
		for at := range targets[:set.Len()] {
			target := &targets[at]
			if target.kind != kind || target.text != string(spelled) {
				continue
			}
			duplicate := target.last > 0
			if duplicate {
				to[target.last-1].duplicate = true
			}
			to = append(to, selectedItem{i, at, duplicate})
			target.last = len(to)
		}
	}
	return to
}

func selectByIndex(to []selectedItem, l *schema.List, list document.Value, set fieldset.Set) []selectedItem {
	items, _ := elements(l, list)
	duplicates := newElementIndex(items).duplicates()
	for i, e := range items {
		if at, found := set.Find(e); found {
			to = append(to, selectedItem{i, at, duplicates != nil && duplicates[i]})
		}
	}
	return to
}

// selectInSetOrder selects the items of a granular list that a set begins with; of all else,
// nothing. They are in the order of the set, the first of those that are repeated first.
func selectInSetOrder(to []selectedItem, t *schema.Type, v document.Value, set fieldset.Set) []selectedItem {
	if v.Kind() != document.List || t.List == nil || t.List.Relationship == schema.Atomic {
		return nil
	}
	to = selectItems(to, t.List, v, set)
	slices.SortStableFunc(to, func(a, b selectedItem) int { return cmp.Compare(a.setIndex, b.setIndex) })
	return to
}

// childOf returns the field or item that an element selects, which is the one in the
// given place of the set; absent if there is none.
func childOf(v document.Value, items []selectedItem, e fieldset.Element, at int) document.Value {
	if e.Kind() == fieldset.FieldName {
		return v.Get(e.Name())
	}
	if i, found := slices.BinarySearchFunc(items, at, func(s selectedItem, at int) int { return cmp.Compare(s.setIndex, at) }); found {
		return v.At(items[i].listIndex)
	}
	return document.Value{}
}

// shape says how a value is taken apart.
type shape uint8

const (
	leafShape    shape = iota // not at all: it is a scalar, or atomic
	mapShape              // it is a granular map, or null in the place of one
	listShape               // it is a granular list, or null in the place of one
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
			return mapShape
		}
	case schema.ListAlternative:
		if t.List.Relationship != schema.Atomic {
			return listShape
		}
	}
	return leafShape
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

// isMember reports whether a declared field with this value is owned for itself: it
// is a leaf, or there is nothing inside that could be owned instead.
func isMember(t *schema.Type, v document.Value) bool {
	return v.IsNull() || isEmptyMap(v) || shapeOf(t, v) == leafShape
}

func isEmptyMap(v document.Value) bool { return v.Kind() == document.Map && v.Len() == 0 }
