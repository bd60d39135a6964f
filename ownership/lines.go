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

// fieldHead returns the lines before the children of a field.
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

// itemElements returns the path elements of the items of a list: those that are in the set, and the index for all
// other items. Duplicates have equal path elements.
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

// isDuplicate reports whether another item has the same path element. Servers track duplicates as one unit.
func isDuplicate(elements []fieldset.Element, i int) bool {
	for j, e := range elements {
		if j != i && e.Compare(elements[i]) == 0 {
			return true
		}
	}
	return false
}

// keyNames returns the names of the list map keys in a set, nil if the set has no keys.
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

// elementOf returns the path element of an item by the given keys, or by its value.
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

// elementWithDefaults returns the path element of the set that an item has if missing keys are defaulted, and the
// fallback if there is none.
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
