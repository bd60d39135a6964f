package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// fieldPath is the path of a value in a body. Its elements are field names, and list indexes with the prefix indexMark.
type fieldPath = []string

// indexMark is the prefix of list indexes in a path; no field name starts with it.
const indexMark = "\x00"

func isIndex(name string) bool { return strings.HasPrefix(name, indexMark) }

func indexIn(name string) int {
	i, _ := strconv.Atoi(strings.TrimPrefix(name, indexMark))
	return i
}

// fieldPaths returns the paths of all values in body in preorder. The first path is empty: it is that of body.
func fieldPaths(body document.Value) []fieldPath {
	all := []fieldPath{nil}
	switch body.Kind() {
	case document.Map:
		for name, value := range body.Fields() {
			all = append(all, prefixedPaths(name, value)...)
		}
	case document.List:
		for i, item := range body.Items() {
			all = append(all, prefixedPaths(indexMark+strconv.Itoa(i), item)...)
		}
	}
	return all
}

func prefixedPaths(name string, value document.Value) []fieldPath {
	var all []fieldPath
	for _, p := range fieldPaths(value) {
		all = append(all, append(fieldPath{name}, p...))
	}
	return all
}

// fieldsOf returns the paths of all fields in body, without the paths of list items.
func fieldsOf(body document.Value) []fieldPath {
	return slices.DeleteFunc(fieldPaths(body)[1:], func(p fieldPath) bool { return isIndex(p[len(p)-1]) })
}

func valueAt(body document.Value, p fieldPath) document.Value {
	for _, name := range p {
		if isIndex(name) {
			body = body.At(indexIn(name))
		} else {
			body = body.Get(name)
		}
	}
	return body
}

// withValue returns body with value at the path p. An absent value removes the field or item.
func withValue(body document.Value, p fieldPath, value document.Value) document.Value {
	if len(p) == 0 {
		return value
	}
	if !isIndex(p[0]) {
		return body.With(p[0], withValue(body.Get(p[0]), p[1:], value))
	}
	items, i := itemsOf(body), indexIn(p[0])
	if items[i] = withValue(items[i], p[1:], value); items[i].IsAbsent() {
		items = slices.Delete(items, i, i+1)
	}
	return document.NewList(items...)
}

// withoutValue returns body without the value at p, and without the maps and lists that become empty, because the
// servers treat empty maps and lists differently.
func withoutValue(body document.Value, p fieldPath) document.Value {
	for len(p) > 1 && valueAt(body, p[:len(p)-1]).Len() == 1 {
		p = p[:len(p)-1]
	}
	return withValue(body, p, document.Value{})
}
