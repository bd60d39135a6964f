package structural

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// Default returns the document with the defaults of the schema where fields are absent, or null although they are not
// nullable. The document must be a result of Decode.
func (t *Type) Default(doc document.Value) document.Value { return t.root.fill(doc) }

// pruneDefaults prunes the defaults of the schema like objects. keep says that the node is in a list that preserves
// unknown fields.
func (t *Type) pruneDefaults(n *node, keep bool) {
	if !n.defaultValue.IsAbsent() {
		r := decoder{t: t, preserveNulls: true, dropInvalid: true}
		n.defaultValue = r.value(n, n.defaultValue, keep)
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

// fill returns a value with the defaults of nested fields.
func (n *node) fill(v document.Value) document.Value {
	if !n.has(defaults) {
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
	case !n.has(defaults) || fastdoc.IsUnparsed(v):
		return v
	case kind == document.Map:
		return n.fillFields(b, v)
	case kind == document.List && n.items != nil:
		return n.fillItems(b, v)
	}
	return v
}

// fillFields joins the fields of a value with the declared fields; both are sorted.
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

// addMissing adds an absent declared field, before the i-th field, if it has a default.
func (n *node) addMissing(b *fastdoc.Builder, change *fastdoc.Rebuild, i, field int) {
	if f := &n.fields[field]; !f.node.filledDefault.IsAbsent() {
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

// fillPart returns a field or an item with defaults. A null of a type that is not nullable counts as absent.
func (n *node) fillPart(b *fastdoc.Builder, v document.Value) document.Value {
	switch {
	case n == nil:
		return v
	case v.IsNull() && !n.nullable && !n.filledDefault.IsAbsent():
		return n.filledDefault
	}
	return n.fillWith(b, v)
}
