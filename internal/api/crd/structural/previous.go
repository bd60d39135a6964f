package structural

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// previous is a value before an update. It is used for ratcheting, which ignores the errors of values that an update does not
// change. known is false if the value did not exist or cannot be matched: fields are matched by name, items of lists of type
// map by their keys; other items cannot be matched.
type previous struct {
	value document.Value
	known bool
}

// field returns the previous value of the field with the given name. atRoot is true if p is the whole object, whose apiVersion
// and kind are never ratcheted.
func (p previous) field(n *node, name string, atRoot bool) previous {
	if !p.known || atRoot && (name == "apiVersion" || name == "kind") || n.field(name) == nil {
		return previous{}
	}
	i, found := p.value.Find(name)
	if !found {
		return previous{}
	}
	return previous{p.value.At(i), true}
}

// items returns the items of p, a list with the schema n, by key; the zero value if items cannot be matched.
func (p previous) items(n *node) previousItems {
	if !p.known || p.value.Kind() != document.List || n.list != mapList || n.kinds != array || len(n.keys) == 0 || n.items == nil {
		return previousItems{}
	}
	found := previousItems{n, make(map[string]document.Value, p.value.Len())}
	for _, item := range p.value.Items() {
		if key, ok := n.keyOf(item); ok {
			if _, exists := found.byKey[key]; !exists {
				found.byKey[key] = item
			}
		}
	}
	return found
}

// previousItems maps the keys of list items to the items before an update. The zero value contains no items.
type previousItems struct {
	list  *node
	byKey map[string]document.Value
}

// find returns the previous value of item: the item before the update with the same keys.
func (p previousItems) find(item document.Value) previous {
	if p.byKey == nil {
		return previous{}
	}
	key, ok := p.list.keyOf(item)
	if !ok {
		return previous{}
	}
	old, found := p.byKey[key]
	return previous{old, found}
}

// keyOf returns a string that encodes the key fields of an item; ok is false if a key field is absent or not a scalar.
func (n *node) keyOf(item document.Value) (key string, ok bool) {
	var b strings.Builder
	for _, name := range n.keys {
		value := item.Get(name)
		if !value.IsScalar() {
			return "", false
		}
		writeIdentity(&b, value)
		b.WriteByte(0)
	}
	return b.String(), true
}

// isUnchanged reports whether value equals old, its previous value. A map that contains fields without a schema counts as
// changed. The order of items in lists of type map is ignored.
func (n *node) isUnchanged(value, old document.Value) bool {
	switch {
	case value.IsNull() || old.IsNull():
		return value.IsNull() && old.IsNull()
	case value.Kind() != old.Kind():
		return false
	case value.Kind() == document.List:
		return n.areItemsUnchanged(value, old)
	case value.Kind() == document.Map:
		return n.areFieldsUnchanged(value, old)
	}
	return equal(value, old)
}

func (n *node) areFieldsUnchanged(current, old document.Value) bool {
	if current.Len() != old.Len() {
		return false
	}
	for i := range current.Len() {
		name, value := current.Field(i)
		child := n.field(name)
		if child == nil || old.Name(i) != name || !child.isUnchanged(value, old.At(i)) {
			return false
		}
	}
	return true
}

func (n *node) areItemsUnchanged(value, old document.Value) bool {
	if n.list != mapList {
		return equal(value, old)
	}
	if value.Len() != old.Len() {
		return false
	}
	oldItems := previous{old, true}.items(n)
	for _, item := range value.Items() {
		if was := oldItems.find(item); !was.known || !n.items.isUnchanged(item, was.value) {
			return false
		}
	}
	return true
}
