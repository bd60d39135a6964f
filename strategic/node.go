package strategic

import (
	"maps"
	"slices"
	"strconv"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// node is a mutable value to which a JSON patch is applied. A list or map is expanded into nodes when an operation
// accesses it, and converted back to a document value at the end. Many operations on one list or map therefore cost
// little more than one operation. Invariants:
//
//	expanded    value is the container before the patch; fields or items are its children
//	!expanded   value is the current value
type node struct {
	value    document.Value
	fields   map[string]*node
	items    []*node
	expanded bool
}

// expand converts the children of a list or map to nodes. It returns false if the node is neither.
func (n *node) expand() bool {
	if n.expanded {
		return true
	}
	kind := n.value.Kind()
	if kind != document.Map && kind != document.List {
		return false
	}
	nodes := make([]node, n.value.Len())
	if kind == document.Map {
		n.fields = make(map[string]*node, len(nodes))
	} else {
		n.items = make([]*node, len(nodes))
	}
	for i := range nodes {
		nodes[i].value = n.value.At(i)
		if kind == document.Map {
			n.fields[n.value.Name(i)] = &nodes[i]
		} else {
			n.items[i] = &nodes[i]
		}
	}
	n.expanded = true
	return true
}

// toValue returns the node as a document value. For unchanged lists and maps it returns the original values.
func (n *node) toValue(build *fastdoc.Builder) document.Value {
	if !n.expanded {
		return n.value
	}
	mark := build.Mark()
	if n.fields == nil {
		changed := len(n.items) != n.value.Len()
		for i, item := range n.items {
			value := item.toValue(build)
			changed = changed || !document.Same(value, n.value.At(i))
			build.Push("", value)
		}
		return build.ListIf(changed, mark, n.value)
	}
	changed := len(n.fields) != n.value.Len()
	for i, name := range slices.Sorted(maps.Keys(n.fields)) {
		value := n.fields[name].toValue(build)
		changed = changed || n.value.Name(i) != name || !document.Same(value, n.value.At(i))
		build.Push(name, value)
	}
	return build.MapIf(changed, mark, n.value)
}

// get returns the field or item that a reference token of a JSON pointer selects. It returns nil for a missing field,
// and an error for a missing item.
func (n *node) get(step string) (*node, error) {
	if n.fields != nil {
		return n.fields[step], nil
	}
	i, err := n.index(step, len(n.items))
	if err != nil {
		return nil, err
	}
	return n.items[i], nil
}

// add sets a field, or inserts an item before the index step; the step "-" appends the item.
func (n *node) add(step string, value *node) error {
	if n.fields != nil {
		n.fields[step] = value
		return nil
	}
	if step == "-" {
		n.items = append(n.items, value)
		return nil
	}
	i, err := n.index(step, len(n.items)+1)
	if err != nil {
		return err
	}
	n.items = slices.Insert(n.items, i, value)
	return nil
}

// set sets a field, or replaces an existing item.
func (n *node) set(step string, value *node) error {
	if n.fields != nil {
		n.fields[step] = value
		return nil
	}
	i, err := n.index(step, len(n.items))
	if err != nil {
		return err
	}
	n.items[i] = value
	return nil
}

// remove removes an existing field or item.
func (n *node) remove(step string) error {
	if n.fields != nil {
		if _, ok := n.fields[step]; !ok {
			return unprocessable("an existing field", "the unknown field "+strconv.Quote(clip(step)), "")
		}
		delete(n.fields, step)
		return nil
	}
	i, err := n.index(step, len(n.items))
	if err != nil {
		return err
	}
	n.items = slices.Delete(n.items, i, i+1)
	return nil
}

// index parses the index of a list item; a negative index counts from the end. It returns an error if the index is not
// less than count, or is less than -count.
func (n *node) index(step string, count int) (int, error) {
	i, err := strconv.Atoi(step)
	if err != nil {
		return 0, unprocessable("the index of an item", strconv.Quote(clip(step)), "")
	}
	if i < 0 {
		i += count
	}
	if i < 0 || i >= count {
		return 0, unprocessable("an index less than "+strconv.Itoa(count), step, "")
	}
	return i, nil
}
