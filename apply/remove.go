package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// remove returns a value without the fields of a set, each with everything in it. A
// container that loses all it had stays, empty: it was not asked for. What is not touched
// is shared with the value.
func remove(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
	if fields.IsEmpty() {
		return v
	}
	docs := builders.Get().(*document.Builder)
	rest := remover{docs}.value(t, v, fields)
	docs.Reset()
	builders.Put(docs)
	return rest
}

var builders = sync.Pool{New: func() any { return new(document.Builder) }}

// remover takes fields out of a document.
type remover struct{ docs *document.Builder }

func (r remover) value(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
	switch {
	case fields.IsEmpty():
		return v
	case shapeOf(t, v) == byField:
		return r.fields(t, v, fields)
	case shapeOf(t, v) == byItem:
		return r.items(t.List, v, fields)
	}
	return v
}

func (r remover) fields(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
	rest := edit(r.docs, v)
	for at := range fields.Len() {
		e := fields.Element(at)
		if e.Kind() != fieldset.FieldName {
			break // names come first
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
	var array [16]selected
	for _, s := range selectItems(array[:0], l, v, fields) {
		if fields.Member(s.at) {
			rest.set(s.index, document.Value{})
		} else {
			item := v.At(s.index)
			rest.set(s.index, withKeysOf(l, item, r.value(l.Item, item, fields.Child(s.at))))
		}
	}
	return rest.result()
}

// withKeysOf gives the rest of an item the keys that the item had, as long as it stays,
// for without them it would be another. A key whose default is the same may go.
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
