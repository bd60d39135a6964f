package structural

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// Default returns the document with defaults for fields that are absent, or null and not nullable. The document must be a
// result of Decode.
func (t *Type) Default(doc document.Value) document.Value { return t.root.fillDefaults(doc) }

// pruneDefaults prunes the default values of a node and of all nodes below it, as Decode prunes objects. keep disables the
// pruning of the node's own default; it is set for the items of a list that preserves unknown fields.
func (t *Type) pruneDefaults(n *node, keep bool) {
	if !n.defaultValue.IsAbsent() {
		r := decoder{t: t, preserveNulls: true, dropInvalid: true}
		n.defaultValue = r.decodeValue(n, n.defaultValue, keep)
	}
	for _, p := range n.fields {
		t.pruneDefaults(p.node, false)
	}
	if n.additional != nil {
		t.pruneDefaults(n.additional, false)
	}
	if n.items != nil {
		t.pruneDefaults(n.items, keep || n.preserve)
	}
}

// fillDefaults returns v with the defaults of the fields inside it.
func (n *node) fillDefaults(v document.Value) document.Value {
	if !n.hasFeature(defaults) {
		return v
	}
	b := builders.Get().(*fastdoc.Builder)
	filled := n.fillWith(b, v)
	b.Reset()
	builders.Put(b)
	return filled
}

var builders = sync.Pool{New: func() any { return new(fastdoc.Builder) }}

func (n *node) fillWith(b *fastdoc.Builder, v document.Value) document.Value {
	switch kind := v.Kind(); {
	case !n.hasFeature(defaults) || fastdoc.IsUnparsed(v):
		return v
	case kind == document.Map:
		return n.fillFields(b, v)
	case kind == document.List && n.items != nil:
		return n.fillItems(b, v)
	}
	return v
}

// fillFields returns the map v with the defaults of its fields. It is a merge join of the map's fields with the fields that the
// schema declares, both sorted by name.
func (n *node) fillFields(b *fastdoc.Builder, v document.Value) document.Value {
	change := b.Rebuild(v)
	next := 0
	for i := range v.Len() {
		name, old := v.Field(i)
		for next < len(n.fields) && n.fields[next].name < name {
			n.addMissing(b, &change, i, next)
			next++
		}
		child := n.additional
		if next < len(n.fields) && n.fields[next].name == name {
			child = n.fields[next].node
			next++
		}
		change.Add(i, name, child.fillPart(b, old), old)
	}
	for ; next < len(n.fields); next++ {
		n.addMissing(b, &change, v.Len(), next)
	}
	return change.Finish()
}

// addMissing adds the field with the index declared in n.fields, which is absent from the map, before the map's i-th field. It
// adds nothing if the field has no default.
func (n *node) addMissing(b *fastdoc.Builder, change *fastdoc.Rebuild, i, declared int) {
	if f := &n.fields[declared]; !f.node.filledDefault.IsAbsent() {
		change.Begin(i)
		b.Push(f.name, f.node.filledDefault)
	}
}

func (n *node) fillItems(b *fastdoc.Builder, v document.Value) document.Value {
	change := b.Rebuild(v)
	for i := range v.Len() {
		old := v.At(i)
		change.Add(i, "", n.items.fillPart(b, old), old)
	}
	return change.Finish()
}

// fillPart returns v, the value of a field or an item, with defaults. Null counts as absent if the schema is not nullable.
func (n *node) fillPart(b *fastdoc.Builder, v document.Value) document.Value {
	switch {
	case n == nil:
		return v
	case v.IsNull() && !n.nullable && !n.filledDefault.IsAbsent():
		return n.filledDefault
	}
	return n.fillWith(b, v)
}
