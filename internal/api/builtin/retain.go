package builtin

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/schema"
)

// RetainZeroValues returns doc with the fields of the live object that have zero values, such as "" and [], and that doc lacks. A
// client that decodes an object into Go structs and sends it back omits these fields without an intended change. The topology
// determines which list items match.
func (t *Type) RetainZeroValues(doc, live document.Value, topology *schema.Type) document.Value {
	k := unsetRetainers.Get().(*zeroValueRetainer)
	kept := k.retainInValue(t, topology, doc, live)
	k.b.Reset()
	unsetRetainers.Put(k) // not deferred, because after a panic the state is inconsistent and must not be reused
	return kept
}

// zeroValueRetainer is the state of RetainZeroValues, which walks two documents in parallel. RetainZeroValues returns its first
// document itself if nothing changes.
type zeroValueRetainer struct{ b fastdoc.Builder }

var unsetRetainers = sync.Pool{New: func() any { return new(zeroValueRetainer) }}

func (r *zeroValueRetainer) retainInValue(t *Type, topology *schema.Type, doc, live document.Value) document.Value {
	if doc.Kind() != live.Kind() || fastdoc.IsUnparsed(doc) || fastdoc.IsUnparsed(live) || document.Same(doc, live) {
		return doc
	}
	if topology == nil {
		topology = schema.Untyped
	}
	switch {
	case t.Kind == Struct && doc.Kind() == document.Map:
		return r.retainInFields(t, topology.Map, doc, live)
	case t.Kind == Map && doc.Kind() == document.Map && t.Elem.Elem == nil && t.Elem.Kind != Struct:
		return doc // scalar values have no unset fields
	case t.Kind == Map && doc.Kind() == document.Map:
		return r.retainInValues(t, topology.Map, doc, live)
	case t.Kind == List && t.Innermost().Kind == Struct:
		return r.retainInItems(t, topology.List, doc, live)
	}
	return doc
}

// retainInFields returns the struct doc with the fields of the struct live that have zero values. It is a merge join of the
// fields of doc and live, which are sorted by name.
func (r *zeroValueRetainer) retainInFields(t *Type, topology *schema.Map, doc, live document.Value) document.Value {
	change := r.b.Rebuild(doc)
	i := 0
	for j := range live.Len() {
		name, old := live.Field(j)
		for ; i < doc.Len() && doc.Name(i) < name; i++ {
			change.Add(i, doc.Name(i), doc.At(i), doc.At(i))
		}
		f, known := t.Field(name)
		switch {
		case i < doc.Len() && doc.Name(i) == name:
			value := doc.At(i)
			if known {
				value = r.retainInValue(f.Type, topologyOf(topology, name), value, old)
			}
			change.Add(i, name, value, doc.At(i))
			i++
		case known && !f.Always && f.Type.isUnset(f.Pointer, old):
			change.Begin(i)
			r.b.Push(name, old)
		}
	}
	if change.Begun() {
		r.b.PushAll(doc, i, doc.Len())
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

// retainInValues returns the map doc, in which each value has the zero-valued fields of the value with the same key in live.
// Keys of live that doc does not contain are not added, because the client has removed them.
func (r *zeroValueRetainer) retainInValues(t *Type, topology *schema.Map, doc, live document.Value) document.Value {
	change := r.b.Rebuild(doc)
	for i := range doc.Len() {
		name, value := doc.Field(i)
		change.Add(i, name, r.retainInValue(t.Elem, topologyOf(topology, name), value, live.Get(name)), value)
	}
	return change.Finish()
}

// retainInItems returns the list doc, in which each item has the zero-valued fields of the matching item of live. In lists of
// type map, items match by their keys. In other lists, items match by index if doc and live have equal lengths; otherwise no
// items match.
func (r *zeroValueRetainer) retainInItems(t *Type, topology *schema.List, doc, live document.Value) document.Value {
	keyed := topology != nil && topology.Relationship == schema.Keyed
	if !keyed && doc.Len() != live.Len() {
		return doc
	}
	var item *schema.Type
	if topology != nil {
		item = topology.Item
	}
	change := r.b.Rebuild(doc)
	var items keyedItems
	if keyed {
		items = keyedItems{keys: topology.Keys, list: live}
	}
	for i := range doc.Len() {
		value, at := doc.At(i), i
		if keyed {
			at = items.find(value, i)
		}
		kept := value
		if at >= 0 {
			kept = r.retainInValue(t.Elem, item, value, live.At(at))
		}
		change.Add(i, "", kept, value)
	}
	return change.Finish()
}
