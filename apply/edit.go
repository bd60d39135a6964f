package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/schema"
)

// edited is a container of which some fields or items are replaced or removed, in ascending order. If none is, the
// result is the container itself.
type edited struct {
	docs    *fastdoc.Builder
	from    document.Value
	mark    int
	done    int // number of fields or items of from that are in the result already, or replaced
	changed bool
}

// edit starts the modification of a container.
func edit(docs *fastdoc.Builder, from document.Value) edited {
	return edited{docs: docs, from: from, mark: docs.Mark()}
}

// set replaces the i-th field or item. An absent value removes it. Calls must be in ascending order of i.
func (e *edited) set(i int, v document.Value) {
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

// result returns the modified container.
func (e *edited) result() document.Value {
	if !e.changed {
		return e.from
	}
	e.docs.PushAll(e.from, e.done, e.from.Len())
	if e.from.Kind() == document.Map {
		return e.docs.Map(e.mark)
	}
	return e.docs.List(e.mark)
}

// remove returns a value without the given fields, each with everything below it. A container that loses all its
// fields or items stays, empty, unless it is in the set itself. Unchanged parts are shared with the value.
func remove(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
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

// remover removes the fields of a set from a document.
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
	rest := edit(r.docs, v)
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
	rest := edit(r.docs, v)
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

// withKeysOf restores the list map keys in the rest of an item, so that the item keeps its identity as long as it
// exists. Keys that equal their default are not restored.
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
