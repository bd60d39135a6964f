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
	f := fillers.Get().(*filler)
	f.left = MaxDefaultBytes
	filled := n.fillWith(f, v)
	f.b.Reset()
	fillers.Put(f)
	return filled
}

// MaxDefaultBytes is the size of the defaults, as JSON, that are added to one object. The schema can have a large default for
// each item of a list of a million empty items. An object that reaches the limit is too large to be stored.
const MaxDefaultBytes = 8 << 20

// filler is the state of one call of fillDefaults.
type filler struct {
	b    fastdoc.Builder
	left int // the remaining part of MaxDefaultBytes
}

var fillers = sync.Pool{New: func() any { return new(filler) }}

func (n *node) fillWith(f *filler, v document.Value) document.Value {
	switch kind := v.Kind(); {
	case !n.hasFeature(defaults) || fastdoc.IsUnparsed(v):
		return v
	case kind == document.Map:
		return n.fillFields(f, v)
	case kind == document.List && n.items != nil:
		return n.fillItems(f, v)
	}
	return v
}

// fillFields returns the map v with the defaults of its fields. It is a merge join of the map's fields with the fields that the
// schema declares, both sorted by name.
func (n *node) fillFields(f *filler, v document.Value) document.Value {
	change := f.b.Rebuild(v)
	next := 0
	for i := range v.Len() {
		name, old := v.Field(i)
		for next < len(n.fields) && n.fields[next].name < name {
			n.addMissing(f, &change, i, next)
			next++
		}
		child := n.additional
		if next < len(n.fields) && n.fields[next].name == name {
			child = n.fields[next].node
			next++
		}
		change.Add(i, name, child.fillPart(f, old), old)
	}
	for ; next < len(n.fields); next++ {
		n.addMissing(f, &change, v.Len(), next)
	}
	return change.Finish()
}

// addMissing adds the field with the index declared in n.fields, which is absent from the map, before the map's i-th field. It
// adds nothing if the field has no default.
func (n *node) addMissing(f *filler, change *fastdoc.Rebuild, i, declared int) {
	if p := &n.fields[declared]; !p.node.filledDefault.IsAbsent() && f.charge(p.node) {
		change.Begin(i)
		f.b.Push(p.name, p.node.filledDefault)
	}
}

// charge reports whether the default of a node can be added.
func (f *filler) charge(n *node) bool {
	f.left -= n.filledSize
	return f.left >= 0
}

func (n *node) fillItems(f *filler, v document.Value) document.Value {
	change := f.b.Rebuild(v)
	for i := range v.Len() {
		old := v.At(i)
		change.Add(i, "", n.items.fillPart(f, old), old)
	}
	return change.Finish()
}

// fillPart returns v, the value of a field or an item, with defaults. Null counts as absent if the schema is not nullable.
func (n *node) fillPart(f *filler, v document.Value) document.Value {
	switch {
	case n == nil:
		return v
	case v.IsNull() && !n.nullable && !n.filledDefault.IsAbsent() && f.charge(n):
		return n.filledDefault
	}
	return n.fillWith(f, v)
}
