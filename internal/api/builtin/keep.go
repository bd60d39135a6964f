package builtin

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/schema"
)

// KeepUnset returns a document that is to take the place of another one, with the unset fields of
// the other one that it does not have. A client that reads an object into Go's structs and writes
// it back has dropped these, and does not know it: it wants no change. Topology tells which items of
// two lists are the same.
func (t *Type) KeepUnset(doc, before document.Value, topology *schema.Type) document.Value {
	k := keepers.Get().(*keeper)
	kept := k.value(t, topology, doc, before)
	k.b.Reset()
	keepers.Put(k) // not after a panic, which leaves it in disorder
	return kept
}

// keeper walks two documents side by side. Like a reader it returns the same value where there is
// nothing to keep.
type keeper struct{ b fastdoc.Builder }

var keepers = sync.Pool{New: func() any { return new(keeper) }}

func (k *keeper) value(t *Type, topology *schema.Type, doc, before document.Value) document.Value {
	if doc.Kind() != before.Kind() || fastdoc.IsUnparsed(doc) || fastdoc.IsUnparsed(before) || document.Same(doc, before) {
		return doc
	}
	if topology == nil {
		topology = schema.Untyped
	}
	switch {
	case t.Kind == Struct && doc.Kind() == document.Map:
		return k.fields(t, topology.Map, doc, before)
	case t.Kind == Map && doc.Kind() == document.Map && t.Elem.Elem == nil && t.Elem.Kind != Struct:
		return doc // no value has a field that could be unset
	case t.Kind == Map && doc.Kind() == document.Map:
		return k.values(t, topology.Map, doc, before)
	case t.Kind == List && t.Innermost().Kind == Struct:
		return k.items(t, topology.List, doc, before)
	}
	return doc
}

// fields joins the fields of both, which are sorted.
func (k *keeper) fields(t *Type, topology *schema.Map, doc, before document.Value) document.Value {
	change := k.b.Rebuild(doc)
	i := 0
	for j := range before.Len() {
		name, old := before.Field(j)
		for ; i < doc.Len() && doc.Name(i) < name; i++ {
			change.Add(i, doc.Name(i), doc.At(i), doc.At(i))
		}
		f, known := t.Field(name)
		switch {
		case i < doc.Len() && doc.Name(i) == name:
			value := doc.At(i)
			if known {
				value = k.value(f.Type, topologyOf(topology, name), value, old)
			}
			change.Add(i, name, value, doc.At(i))
			i++
		case known && !f.Always && f.Type.isUnset(f.Pointer, old):
			change.Begin(i)
			k.b.Push(name, old)
		}
	}
	if change.Begun() {
		k.b.PushAll(doc, i, doc.Len())
	}
	return change.Finish()
}

func topologyOf(m *schema.Map, name string) *schema.Type {
	if m == nil {
		return nil
	}
	t, _ := m.TypeOf(name)
	return t
}

// values looks into the values of a map: what is not there was removed, whatever it was.
func (k *keeper) values(t *Type, topology *schema.Map, doc, before document.Value) document.Value {
	change := k.b.Rebuild(doc)
	for i := range doc.Len() {
		name, value := doc.Field(i)
		change.Add(i, name, k.value(t.Elem, topologyOf(topology, name), value, before.Get(name)), value)
	}
	return change.Finish()
}

// items looks into the items that both lists have: those with the same keys, or in the same places
// of lists that have no keys and are of one length.
func (k *keeper) items(t *Type, topology *schema.List, doc, before document.Value) document.Value {
	keyed := topology != nil && topology.Relationship == schema.Keyed
	if !keyed && doc.Len() != before.Len() {
		return doc
	}
	var item *schema.Type
	if topology != nil {
		item = topology.Item
	}
	change := k.b.Rebuild(doc)
	for i := range doc.Len() {
		value, at := doc.At(i), i
		if keyed {
			at = keyedPlace(topology.Keys, before, value, i)
		}
		kept := value
		if at >= 0 {
			kept = k.value(t.Elem, item, value, before.At(at))
		}
		change.Add(i, "", kept, value)
	}
	return change.Finish()
}

// keyedPlace returns the place of the item that has the keys of another one, -1 if there is none. It
// looks at the likely place first.
func keyedPlace(keys []schema.Key, list, item document.Value, likely int) int {
	if likely < list.Len() && sameKeys(keys, list.At(likely), item) {
		return likely
	}
	for i := range list.Len() {
		if sameKeys(keys, list.At(i), item) {
			return i
		}
	}
	return -1
}

func sameKeys(keys []schema.Key, a, b document.Value) bool {
	for _, key := range keys {
		if !document.Equal(a.Get(key.Name), b.Get(key.Name)) {
			return false
		}
	}
	return true
}
