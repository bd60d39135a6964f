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

// elements returns the path element of each item of a granular list: the keys of the item, or its value in a list of
// type set. Items without a valid path element get the zero element; the error describes the first such item.
//
// All elements are encoded into one buffer, so a list of any length costs two allocations.
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

// itemError is the reason why the list item at an index has no valid path element.
type itemError struct {
	index   int
	problem string
}

// appendElement appends the path element of a list item to dst, in its FieldsV1 encoding without the prefix k: or v:,
// and returns the result as spelled. problem is empty if the item has a valid path element.
func appendElement(dst []byte, l *schema.List, item document.Value) (kind fieldset.ElementKind, spelled []byte, problem string) {
	if l.Relationship == schema.Keyed {
		spelled, problem = appendKey(dst, l, item)
		return fieldset.Key, spelled, problem
	}
	spelled, problem = appendSetValue(dst, item)
	return fieldset.SetValue, spelled, problem
}

// elementOf returns the path element of a list item; ok is false if the item has no valid path element.
func elementOf(l *schema.List, item document.Value) (e fieldset.Element, ok bool) {
	var array [256]byte
	kind, spelled, problem := appendElement(array[:0], l, item)
	return fastset.Element(kind, string(spelled)), problem == ""
}

// appendSetValue appends the path element of an item of a list of type set, which is the item itself. The second result
// describes the problem if the item is not a scalar.
func appendSetValue(dst []byte, item document.Value) ([]byte, string) {
	if !item.IsScalar() {
		return dst, fmt.Sprintf("expected a string, number or boolean, as the list is a set; received %s", describe(item))
	}
	return fieldsv1.AppendValue(dst, item), ""
}

// appendKey appends the path element of an item of a list of type map. A missing key field takes its default; without a
// default it is omitted from the path element. The second result describes the problem if the item is not a map or has
// no key.
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
		return dst, fmt.Sprintf("expected a list item with the key %s, received %s; add the key", keyNames(l), describe(item))
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

// keyValue returns the value of the key field in item. If item does not set the key field, keyValue returns the default
// of the key, or an absent value if there is no default.
func keyValue(key schema.Key, item document.Value) document.Value {
	if v := item.Get(key.Name); !v.IsAbsent() {
		return v
	}
	return key.Default
}

// sortedKeys returns the key fields of a list sorted by name, which is their order in path elements.
func sortedKeys(l *schema.List) []schema.Key {
	byName := func(a, b schema.Key) int { return strings.Compare(a.Name, b.Name) }
	if len(l.Keys) < 2 || slices.IsSortedFunc(l.Keys, byName) {
		return l.Keys
	}
	return slices.SortedFunc(slices.Values(l.Keys), byName)
}

// keyNames returns the names of a list's key fields, separated by commas, for error messages.
func keyNames(l *schema.List) string {
	names := make([]string, len(l.Keys))
	for i, key := range l.Keys {
		names[i] = key.Name
	}
	return strings.Join(names, ", ")
}

// elementIndex finds the items of a list by their path elements.
type elementIndex struct {
	elements []fieldset.Element
	// first maps a path element to the index of the first item that has it. It is nil for short lists, which are
	// searched linearly.
	first map[fieldset.Element]int
}

// maxLinearItems is the maximum number of items that elementIndex searches linearly; for longer lists it builds a map.
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

// find returns the index of the first item with the path element e, -1 if no item has it.
func (x elementIndex) find(e fieldset.Element) int {
	if x.first == nil {
		return slices.Index(x.elements, e)
	}
	if i, ok := x.first[e]; ok {
		return i
	}
	return -1
}

// duplicates reports for each item whether another item has the same path element. It returns nil if all path elements
// differ.
func (x elementIndex) duplicates() []bool {
	var duplicates []bool
	for i, e := range x.elements {
		if first := x.find(e); first != i {
			if duplicates == nil {
				duplicates = make([]bool, len(x.elements))
			}
			duplicates[first], duplicates[i] = true, true
		}
	}
	return duplicates
}

// selectedItem is a list item whose path element is in the first level of a field set.
type selectedItem struct {
	listIndex int  // index of the item in the list
	setIndex  int  // index of the item's path element in the first level of the set
	duplicate bool // another item of the list has the same path element
}

// maxLinearElements is the maximum number of path elements in the first level of a set that selectItems compares with
// each list item. For larger sets, selectByIndex looks up each list item in the set.
const maxLinearElements = 4

// selectItems appends to selected the items of a granular list whose path elements are in the first level of set. The
// appended items are in the order of the list.
func selectItems(selected []selectedItem, l *schema.List, list document.Value, set fieldset.Set) []selectedItem {
	if set.Len() > maxLinearElements {
		return selectByIndex(selected, l, list, set)
	}
	var targets [maxLinearElements]struct {
		kind fieldset.ElementKind
		text string
		last int // 1 + the index in selected of the last appended item with this path element, 0 if there is none
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
				selected[target.last-1].duplicate = true
			}
			selected = append(selected, selectedItem{i, at, duplicate})
			target.last = len(selected)
		}
	}
	return selected
}

// selectByIndex is the variant of selectItems for sets with more than maxLinearElements path elements in the first
// level.
func selectByIndex(selected []selectedItem, l *schema.List, list document.Value, set fieldset.Set) []selectedItem {
	items, _ := elements(l, list)
	duplicates := newElementIndex(items).duplicates()
	for i, e := range items {
		if at, found := set.Find(e); found {
			selected = append(selected, selectedItem{i, at, duplicates != nil && duplicates[i]})
		}
	}
	return selected
}

// selectInSetOrder appends to selected the items of the granular list v whose path elements are in the first level of
// set. The appended items are in the order of set, and duplicates in the order of v. It returns nil if v is not a
// granular list.
func selectInSetOrder(selected []selectedItem, t *schema.Type, v document.Value, set fieldset.Set) []selectedItem {
	if v.Kind() != document.List || t.List == nil || t.List.Relationship == schema.Atomic {
		return nil
	}
	selected = selectItems(selected, t.List, v, set)
	slices.SortStableFunc(selected, func(a, b selectedItem) int { return cmp.Compare(a.setIndex, b.setIndex) })
	return selected
}

// childOf returns the field or the first list item of v that the path element e selects, or an absent value if v has no
// such child. items is the result of selectInSetOrder for v and a set; setIndex is the index of e in that set.
func childOf(v document.Value, items []selectedItem, e fieldset.Element, setIndex int) document.Value {
	if e.Kind() == fieldset.FieldName {
		return v.Get(e.Name())
	}
	if i, found := slices.BinarySearchFunc(items, setIndex, func(s selectedItem, at int) int { return cmp.Compare(s.setIndex, at) }); found {
		return v.At(items[i].listIndex)
	}
	return document.Value{}
}

// shape is the granularity at which the parts of a value are owned.
type shape uint8

const (
	leafShape shape = iota // a scalar, atomic list or atomic map, which is owned as a whole
	mapShape               // a granular map, or null in place of one
	listShape              // a granular list, or null in place of one
)

// shapeOf returns the shape of v. If t is nil, v is the value of an undeclared field, which is untyped.
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

// fieldType returns the type of a field in a value of type t, which is a granular map, and whether the schema declares
// the field. Undeclared fields of a map without an element type are untyped.
func fieldType(t *schema.Type, name string) (field *schema.Type, declared bool) {
	if t == nil {
		return schema.Untyped, false
	}
	if field, declared = t.Map.TypeOf(name); field == nil {
		field = schema.Untyped
	}
	return field, declared
}

// isMember reports whether a declared field with this value is itself a member of the field set. It returns true for
// leaves, null and empty maps, because these have no parts that could be owned.
func isMember(t *schema.Type, v document.Value) bool {
	return v.IsNull() || isEmptyMap(v) || shapeOf(t, v) == leafShape
}

func isEmptyMap(v document.Value) bool { return v.Kind() == document.Map && v.Len() == 0 }
