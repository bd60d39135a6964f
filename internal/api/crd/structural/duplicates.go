package structural

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// mayHaveDuplicates reports whether a value may contain a list of type set or map with duplicate or malformed items. A false
// result is exact; after a true result, a listWalk finds the items, if there are any. It does not allocate memory for short
// lists.
func (n *node) mayHaveDuplicates(v document.Value) bool {
	if !n.hasFeature(uniqueItems) || fastdoc.IsUnparsed(v) {
		return false
	}
	switch v.Kind() {
	case document.Map:
		next := 0
		for i := range v.Len() {
			name, value := v.Field(i)
			if child, _ := n.child(name, &next); child.mayHaveDuplicates(value) {
				return true
			}
		}
	case document.List:
		if n.list != atomicList && n.itemsMayHaveDuplicates(v) {
			return true
		}
		for i := range v.Len() {
			if n.items.mayHaveDuplicates(v.At(i)) {
				return true
			}
		}
	}
	return false
}

func (n *node) itemsMayHaveDuplicates(v document.Value) bool {
	const short = 16
	count := v.Len()
	if count > short {
		return true
	}
	for i := range count {
		item := v.At(i)
		if n.list == mapList && item.Kind() != document.Map {
			return true
		}
		for j := range i {
			if n.isDuplicate(item, v.At(j)) {
				return true
			}
		}
	}
	return false
}

// isDuplicate reports whether a and b, two items of a list, are duplicates: equal items of a set, or items of a map with equal
// keys.
func (n *node) isDuplicate(a, b document.Value) bool {
	if n.list == setList {
		return document.Equal(a, b)
	}
	for _, key := range n.keys {
		if !document.Equal(a.Get(key), b.Get(key)) {
			return false
		}
	}
	return true
}
