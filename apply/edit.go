package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/schema"
)

// containerEdit replaces and removes fields of a map, or items of a list. If nothing changes, its result is the
// original container.
type containerEdit struct {
	docs    *fastdoc.Builder
	from    document.Value
	mark    int
	done    int // number of fields or items of from that have been copied, replaced or removed so far
	changed bool
}

// newContainerEdit returns a containerEdit of the map or list from, which builds its result in docs.
func newContainerEdit(docs *fastdoc.Builder, from document.Value) containerEdit {
	return containerEdit{docs: docs, from: from, mark: docs.Mark()}
}

// set replaces the i-th field or item. An absent value removes it. Calls must be in ascending order of i.
func (e *containerEdit) set(i int, v document.Value) {
	if v == e.from.At(i) {
		return
	}
	e.changed = true
	e.docs.PushAll(e.from, e.done, i)
	name := ""
	if e.from.Kind() == document.Map {
		name = e.from.Name(i)
	}
	e.docs.Push(name, v)
	e.done = i + 1
}

// result returns the container with all changes. If there are no changes, it returns the original container.
func (e *containerEdit) result() document.Value {
	if !e.changed {
		return e.from
	}
	e.docs.PushAll(e.from, e.done, e.from.Len())
	if e.from.Kind() == document.Map {
		return e.docs.Map(e.mark)
	}
	return e.docs.List(e.mark)
}

// removeFields returns v without the members of the set fields and everything below them. A container that loses all
// its fields or items remains as an empty container, unless it is a member itself. The result shares the unchanged
// parts of v.
func removeFields(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
	if fields.IsEmpty() {
		return v
	}
	docs := builders.Get().(*fastdoc.Builder)
	rest := remover{docs}.value(t, v, fields)
	docs.Reset()
	builders.Put(docs)
	return rest
}

var builders = sync.Pool{New: func() any { return new(fastdoc.Builder) }}

// remover removes the members of a field set from a document; see removeFields.
type remover struct{ docs *fastdoc.Builder }

func (r remover) value(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
	switch {
	case fields.IsEmpty():
		return v
	case shapeOf(t, v) == mapShape:
		return r.fields(t, v, fields)
	case shapeOf(t, v) == listShape:
		return r.items(t.List, v, fields)
	}
	return v
}

func (r remover) fields(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
	rest := newContainerEdit(r.docs, v)
	for at := range fields.Len() {
		e := fields.Element(at)
		if e.Kind() != fieldset.FieldName {
			break // field names sort before other elements
		}
		i, found := v.Find(e.Name())
		switch {
		case !found:
		case fields.Member(at):
			rest.set(i, document.Value{})
		default:
			child, _ := fieldType(t, e.Name())
			rest.set(i, r.value(child, v.At(i), fields.Child(at)))
		}
	}
	return rest.result()
}

func (r remover) items(l *schema.List, v document.Value, fields fieldset.Set) document.Value {
	rest := newContainerEdit(r.docs, v)
	var array [16]selectedItem
	for _, s := range selectItems(array[:0], l, v, fields) {
		if fields.Member(s.setIndex) {
			rest.set(s.listIndex, document.Value{})
		} else {
			item := v.At(s.listIndex)
			rest.set(s.listIndex, withKeysOf(l, item, r.value(l.Item, item, fields.Child(s.setIndex))))
		}
	}
	return rest.result()
}

// withKeysOf returns rest with the list map keys of item restored, so that the list item keeps its identity. rest is
// item after some of its fields were removed. Keys that equal their default are not restored.
func withKeysOf(l *schema.List, item, rest document.Value) document.Value {
	if rest == item {
		return rest
	}
	for _, key := range l.Keys {
		if old := item.Get(key.Name); rest.Get(key.Name).IsAbsent() && !document.Equal(old, key.Default) {
			rest = rest.With(key.Name, old)
		}
	}
	return rest
}
