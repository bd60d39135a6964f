package structural

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// checkLists returns an error for each duplicate item in a list of type set or map. It returns nil if the old object contains
// any duplicate items, as kube-apiserver does.
func (t *Type) checkLists(obj, old document.Value) field.ErrorList {
	if !t.root.mayHaveDuplicates(obj) {
		return nil
	}
	var w listWalk
	w.value(t.root, obj)
	if len(w.errs) > 0 && !old.IsAbsent() {
		var was listWalk
		if was.value(t.root, old); len(was.errs) > 0 {
			return nil
		}
	}
	return w.errs
}

// listWalk is the state of a walk over the lists of an object: the current path, and the errors so far.
type listWalk struct {
	path valuePath
	errs field.ErrorList
}

func (w *listWalk) value(n *node, v document.Value) {
	if !n.hasFeature(uniqueItems) || fastdoc.IsUnparsed(v) {
		return
	}
	switch v.Kind() {
	case document.Map:
		w.fields(n, v)
	case document.List:
		switch n.list {
		case setList:
			w.set(v)
		case mapList:
			w.keyed(n, v)
		}
		for i, item := range v.Items() {
			depth := w.path.enterItem(i)
			w.value(n.items, item)
			w.path.leave(depth)
		}
	}
}

func (w *listWalk) fields(n *node, v document.Value) {
	next := 0
	for i := range v.Len() {
		name, value := v.Field(i)
		child, declared := n.child(name, &next)
		depth := w.path.enter(name, declared)
		w.value(child, value)
		w.path.leave(depth)
	}
}

func (w *listWalk) set(v document.Value) {
	for _, i := range duplicateIndexes(v.Len(), func(i int) string { return setKey(v.At(i)) }) {
		w.duplicate(i, v.At(i).ToGo())
	}
}

// keyed adds an error for each item with duplicate keys in a list of type map, or one error if an item is neither a map nor
// null. A null item is treated as an item without keys.
func (w *listWalk) keyed(n *node, v document.Value) {
	for i, item := range v.Items() {
		if item.Kind() != document.Map && !item.IsNull() {
			depth := w.path.enterItem(i)
			w.errs = append(w.errs, field.Invalid(field.NewPath(w.path.String()), item.ToGo(), "must be an object for an array of list-type map"))
			w.path.leave(depth)
			return
		}
	}
	for _, i := range duplicateIndexes(v.Len(), func(i int) string { return n.mapKey(v.At(i)) }) {
		keys := map[string]any{}
		for _, name := range n.keys {
			if value := v.At(i).Get(name); !value.IsAbsent() {
				keys[name] = value.ToGo()
			}
		}
		w.duplicate(i, keys)
	}
}

func (w *listWalk) duplicate(i int, value any) {
	if len(w.errs) < maxErrors {
		depth := w.path.enterItem(i)
		w.errs = append(w.errs, field.Duplicate(field.NewPath(w.path.String()), value))
		w.path.leave(depth)
	}
}

// duplicateIndexes returns the index of the second item for each key that several items have. As in kube-apiserver, it does
// not return the third and later items with a key. key returns the key of the i-th of count items.
func duplicateIndexes(count int, key func(i int) string) (indexes []int) {
	if count <= 1 {
		return nil
	}
	seen := make(map[string]int, count)
	for i := range count {
		k := key(i)
		if seen[k]++; seen[k] == 2 {
			indexes = append(indexes, i)
		}
	}
	return indexes
}

// setKey returns a string that is equal for equal items of a set. As in kube-apiserver, numbers inside lists and maps are
// compared by their JSON encoding in Go, and other numbers by Go type and value.
func setKey(v document.Value) string {
	switch v.Kind() {
	case document.List, document.Map:
		text, _ := json.Marshal(v.ToGo())
		return string(text)
	case document.String:
		return v.Text()
	}
	return "\x00" + identity(v)
}

// mapKey returns a string that is equal for items of a list of type map with equal keys.
func (n *node) mapKey(item document.Value) string {
	if len(n.keys) == 1 {
		value := item.Get(n.keys[0])
		if value.IsAbsent() {
			return "\x00absent"
		}
		return setKey(value)
	}
	var fields []document.Field
	for _, name := range n.keys {
		fields = append(fields, document.Field{Name: name, Value: item.Get(name)})
	}
	return setKey(document.NewMap(fields...))
}
