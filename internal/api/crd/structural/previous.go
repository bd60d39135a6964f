package structural

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// previous is the value before an update, if it can be found: fields are matched by name, items only in lists of type
// map, by their keys. Errors of unchanged values are tolerated (ratcheting).
type previous struct {
	value document.Value
	known bool
}

// field returns the previous value of a field. apiVersion and kind of the object are never ratcheted.
func (b previous) field(n *node, name string, atRoot bool) previous {
	if !b.known || atRoot && (name == "apiVersion" || name == "kind") || n.field(name) == nil {
		return previous{}
	}
	i, found := b.value.Find(name)
	if !found {
		return previous{}
	}
	return previous{b.value.At(i), true}
}

// items returns the previous items of a list.
func (b previous) items(n *node) previousItems {
	if !b.known || b.value.Kind() != document.List || n.list != mapList || n.kinds != array || len(n.keys) == 0 || n.items == nil {
		return previousItems{}
	}
	former := previousItems{n, make(map[string]document.Value, b.value.Len())}
	for _, item := range b.value.Items() {
		if key, ok := n.keyOf(item); ok {
			if _, there := former.byKey[key]; !there {
				former.byKey[key] = item
			}
		}
	}
	return former
}

// previousItems are the previous items of a list by their keys; the zero value has none.
type previousItems struct {
	list  *node
	byKey map[string]document.Value
}

// of returns the previous value of an item.
func (f previousItems) of(item document.Value) previous {
	if f.byKey == nil {
		return previous{}
	}
	key, ok := f.list.keyOf(item)
	if !ok {
		return previous{}
	}
	old, found := f.byKey[key]
	return previous{old, found}
}

// keyOf returns the key of an item; ok is false if it has none.
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

// unchanged reports whether a value equals its previous value. Fields without a schema count as changed; the order of
// items in lists of type map is ignored.
func (n *node) unchanged(now, old document.Value) bool {
	switch {
	case now.IsNull() || old.IsNull():
		return now.IsNull() && old.IsNull()
	case now.Kind() != old.Kind():
		return false
	case now.Kind() == document.List:
		return n.itemsUnchanged(now, old)
	case now.Kind() == document.Map:
		return n.fieldsUnchanged(now, old)
	}
	return equal(now, old)
}

func (n *node) fieldsUnchanged(now, old document.Value) bool {
	if now.Len() != old.Len() {
		return false
	}
	for i := range now.Len() {
		name, value := now.Field(i)
		child := n.field(name)
		if child == nil || old.Name(i) != name || !child.unchanged(value, old.At(i)) {
			return false
		}
	}
	return true
}

func (n *node) itemsUnchanged(now, old document.Value) bool {
	if n.list != mapList {
		return equal(now, old)
	}
	if now.Len() != old.Len() {
		return false
	}
	former := previous{old, true}.items(n)
	for _, item := range now.Items() {
		if was := former.of(item); !was.known || !n.items.unchanged(item, was.value) {
			return false
		}
	}
	return true
}
