package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// remover takes fields out of documents. What it does not touch is shared with the
// document that it was given.
type remover struct{ docs document.Builder }

// remove returns the value without the fields of the set, each with everything in
// it. A container that loses all it had stays, empty: it was not asked for.
func (r *remover) remove(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
	if fields.IsEmpty() {
		return v
	}
	switch shapeOf(t, v) {
	case byField:
		return r.removeFields(t, v, fields)
	case byItem:
		return r.removeItems(t.List, v, fields)
	}
	return v
}

func (r *remover) removeFields(t *schema.Type, v document.Value, fields fieldset.Set) document.Value {
	mark := r.docs.Mark()
	changed := false
	for i := range v.Len() {
		name, field := v.Name(i), v.At(i)
		below, member := fields.Below(fieldset.NameElement(name))
		if member {
			changed = true
			continue
		}
		child, _ := fieldType(t, name)
		rest := r.remove(child, field, below)
		changed = changed || rest != field
		r.docs.Push(name, rest)
	}
	return r.docs.MapIf(changed, mark, v)
}

func (r *remover) removeItems(l *schema.List, v document.Value, fields fieldset.Set) document.Value {
	items, _ := elements(l, v)
	mark := r.docs.Mark()
	changed := false
	for i, e := range items {
		item := v.At(i)
		below, member := fields.Below(e)
		if member {
			changed = true
			continue
		}
		rest := withKeysOf(l, item, r.remove(l.Item, item, below))
		changed = changed || rest != item
		r.docs.Push("", rest)
	}
	return r.docs.ListIf(changed, mark, v)
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
