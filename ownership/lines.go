package ownership

import (
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// fieldText returns a field with its value as lines of YAML.
func fieldText(name string, v document.Value) []string {
	return textLines(document.NewMap(document.Field{Name: name, Value: v}))
}

// fieldHead returns the YAML lines of a field that precede its children, such as "spec:".
func fieldHead(name string) []string {
	lines := fieldText(name, document.NewMap(document.Field{Name: "x", Value: document.NewNull()}))
	return lines[:len(lines)-1]
}

// itemText returns a list item as lines of YAML.
func itemText(v document.Value) []string { return textLines(document.NewList(v)) }

// textLines returns a value as lines of YAML.
func textLines(v document.Value) []string {
	return strings.Split(strings.TrimSuffix(v.YAML(), "\n"), "\n")
}

// itemElements returns a path element for each item of list: the path element in set that selects the item, or an index
// element if set contains no such element. Duplicate items have equal path elements.
func itemElements(list document.Value, set fieldset.Set) []fieldset.Element {
	keys := keyNames(set)
	elements := make([]fieldset.Element, list.Len())
	for i, item := range list.Items() {
		e := elementOf(item, keys)
		if _, ok := set.Find(e); !ok {
			e = elementWithDefaults(item, set, fieldset.IndexElement(i))
		}
		elements[i] = e
	}
	return elements
}

// isDuplicate reports whether another list item has the same path element as the i-th item. Servers track the ownership
// of duplicate items as one unit.
func isDuplicate(elements []fieldset.Element, i int) bool {
	for j, e := range elements {
		if j != i && e.Compare(elements[i]) == 0 {
			return true
		}
	}
	return false
}

// keyNames returns the key names in the first path element of set that selects an item of a list of type map. It returns
// nil if set contains no such element.
func keyNames(set fieldset.Set) []string {
	for i := range set.Len() {
		if e := set.Element(i); e.Kind() == fieldset.Key {
			var names []string
			for _, key := range e.KeyFields() {
				names = append(names, key.Name)
			}
			return names
		}
	}
	return nil
}

// elementOf returns the path element that selects item: by the keys with the given names if item is a map, and by its
// value if it is not.
func elementOf(item document.Value, keys []string) fieldset.Element {
	if item.Kind() != document.Map {
		return fieldset.ValueElement(item)
	}
	fields := make([]fieldset.KeyField, len(keys))
	for i, key := range keys {
		fields[i] = fieldset.KeyField{Name: key, Value: item.Get(key)}
	}
	return fieldset.KeyElement(fields...)
}

// elementWithDefaults returns the first path element of set that matches the keys that item contains; keys that are
// missing in item may be defaulted. It returns fallback if no path element matches.
func elementWithDefaults(item document.Value, set fieldset.Set, fallback fieldset.Element) fieldset.Element {
	if item.Kind() != document.Map {
		return fallback
	}
	for i := range set.Len() {
		if same, _ := hasKeys(item, set.Element(i).KeyFields()); same {
			return set.Element(i)
		}
	}
	return fallback
}
