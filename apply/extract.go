package apply

import (
	"errors"
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
	"github.com/cadastre/cadastre/schema"
)

// ErrNoManagedFields reports that an object has no managedFields: it was read without them, or they were cleared.
var ErrNoManagedFields = errors.New("the object has no managedFields, so that nobody's configuration can be told; read it with them")

// Extract returns the configuration that a manager must apply to own what it owns and to change nothing: its fields
// with their values, the keys of list items, and unset markers for the fields that it owns and that are absent. It is
// at the version of the manager's entry. A manager without an entry gets a configuration that only identifies the
// object.
func (e *Engine) Extract(live Object, r Request) (document.Value, error) {
	if len(live.Entries) == 0 {
		return document.Value{}, ErrNoManagedFields
	}
	t, err := e.typeAt(r.Version)
	if err != nil {
		return document.Value{}, err
	}
	doc := versioned{live.Document, t, r.Version}
	managed, err := e.readManaged(live.Entries)
	if err != nil {
		return document.Value{}, err
	}
	entry := Entry{Manager: r.Manager, Operation: Apply, Subresource: r.Subresource}
	if slices.ContainsFunc(managed.dropped, entry.sameManager) {
		return document.Value{}, fmt.Errorf("extract what %q owns: %w", r.Manager, ErrVersionGone)
	}
	self := managed.find(entry)
	if self < 0 {
		return withIdentity(document.NewMap(), doc.doc), nil
	}
	fields, err := managed.fields(self)
	if err != nil {
		return document.Value{}, err
	}
	if doc, err = e.convertTo(doc, managed.list[self].entry.APIVersion); err != nil {
		return document.Value{}, fmt.Errorf("extract what %q owns: %w", r.Manager, err)
	}
	x := extractor{markers: e.options.Unset}
	return withIdentity(x.fields(doc.t.Map, doc.doc, fields), doc.doc), nil
}

// withIdentity gives a configuration the fields that say which object it is of.
func withIdentity(config, doc document.Value) document.Value {
	for _, name := range []string{"apiVersion", "kind"} {
		config = config.With(name, doc.Get(name))
	}
	metadata := config.Get("metadata")
	if metadata.IsAbsent() {
		metadata = document.NewMap()
	}
	for _, name := range []string{"name", "namespace"} {
		metadata = metadata.With(name, doc.Lookup("metadata", name))
	}
	if metadata.Len() == 0 {
		return config
	}
	return config.With("metadata", metadata)
}

// extractor makes a configuration of a document and a set.
type extractor struct {
	docs    fastdoc.Builder
	markers bool
}

var unsetMarker = document.NewMap(document.Field{Name: UnsetMarkerKey, Value: document.NewString(UnsetMarkerValue)})

// value returns the part of a value that is in the set: as a leaf, or by what is
// below it.
func (x *extractor) value(t *schema.Type, v document.Value, below fieldset.Set) document.Value {
	if t == nil {
		t = schema.Untyped
	}
	isMap := t.Map != nil && !t.Map.Atomic && v.Kind() == document.Map
	isList := t.List != nil && t.List.Relationship != schema.Atomic && v.Kind() == document.List
	if !below.IsEmpty() && !isMap && !isList {
		v = document.Value{} // there is nothing that could be inside of it
	}
	switch {
	case v.IsAbsent() && below.IsEmpty():
		if x.markers {
			return unsetMarker
		}
		return v
	case isMap, v.IsAbsent() && t.Map != nil && !t.Map.Atomic:
		return x.nonEmpty(v, below, x.fields(t.Map, v, below))
	case isList && below.IsEmpty() && v.Len() > 0:
		return document.NewNull() // applied over the items of others; an empty list has no owner
	case isList, v.IsAbsent() && t.List != nil && t.List.Relationship != schema.Atomic:
		return x.nonEmpty(v, below, x.items(t.List, v, below))
	}
	return v
}

// nonEmpty leaves out a container of which nothing could be extracted, unless it is
// owned for being there.
func (x *extractor) nonEmpty(v document.Value, below fieldset.Set, extracted document.Value) document.Value {
	if extracted.Len() == 0 && (v.IsAbsent() || !below.IsEmpty()) {
		return document.Value{}
	}
	return extracted
}

func (x *extractor) fields(m *schema.Map, v document.Value, set fieldset.Set) document.Value {
	mark := x.docs.Mark()
	for i := range set.Len() {
		if name := set.Element(i); name.Kind() == fieldset.FieldName {
			t, _ := m.TypeOf(name.Name())
			x.docs.Push(name.Name(), x.value(t, v.Get(name.Name()), set.Child(i)))
		}
	}
	return x.docs.Map(mark)
}

// items extracts the items that are there, in their order, then markers for those
// that are owned and absent.
func (x *extractor) items(l *schema.List, v document.Value, set fieldset.Set) document.Value {
	present, _ := elements(l, v)
	mark := x.docs.Mark()
	for i, e := range present {
		below, member := set.Below(e)
		if member || !below.IsEmpty() {
			x.docs.Push("", x.item(l, v.At(i), below))
		}
	}
	found := newElementIndex(present)
	for i := range set.Len() {
		e := set.Element(i)
		if x.markers && set.Member(i) && e.Kind() == fieldset.Key && found.find(e) < 0 {
			x.docs.Push("", withKeys(unsetMarker, e))
		}
	}
	return x.docs.List(mark)
}

func (x *extractor) item(l *schema.List, v document.Value, below fieldset.Set) document.Value {
	if l.Relationship != schema.Keyed || l.Item.Map == nil || l.Item.Map.Atomic {
		return v
	}
	extracted := x.fields(l.Item.Map, v, below)
	for _, key := range l.Keys {
		if value := v.Get(key.Name); !document.Equal(value, key.Default) {
			extracted = extracted.With(key.Name, value)
		}
	}
	return extracted
}

// withKeys adds the keys of an element to an item.
func withKeys(item document.Value, e fieldset.Element) document.Value {
	for _, key := range e.KeyFields() {
		item = item.With(key.Name, key.Value)
	}
	return item
}
