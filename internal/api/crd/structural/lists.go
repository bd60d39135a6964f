package structural

import (
	"encoding/json"

	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// checkLists rejects duplicate items in lists of type set or map, unless the old object has any duplicates.
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

// listWalk is a walk over the lists of an object.
type listWalk struct {
	path valuePath
	errs field.ErrorList
}

func (w *listWalk) value(n *node, v document.Value) {
	if !n.has(uniqueItems) || fastdoc.IsUnparsed(v) {
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

// keyed checks the items of a list of type map. A null item has no keys.
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

func (w *listWalk) duplicate(i int, bad any) {
	if len(w.errs) < maxErrors {
		depth := w.path.enterItem(i)
		w.errs = append(w.errs, field.Duplicate(field.NewPath(w.path.String()), bad))
		w.path.leave(depth)
	}
}

// duplicateIndexes returns the indexes of items whose key exactly one earlier item has: further duplicates of a key are not
// reported.
func duplicateIndexes(count int, key func(int) string) (again []int) {
	if count <= 1 {
		return nil
	}
	seen := make(map[string]int, count)
	for i := range count {
		k := key(i)
		if seen[k]++; seen[k] == 2 {
			again = append(again, i)
		}
	}
	return again
}

// setKey returns a string that equal items of a set have in common. Numbers in lists and maps are compared by their
// encoding in Go, other numbers with their Go type.
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

// mapKey returns a string that items with equal keys have in common.
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
