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
var ErrNoManagedFields = errors.New("the object has no managedFields; read it again without removing them")

// Extract returns a configuration that contains the fields that a manager owns through its Apply entry. Applying the
// configuration changes nothing. It contains the live values of these fields, the keys of list items, and unset markers
// for owned fields that are absent. The configuration is at the version of the manager's entry. For a manager without
// an Apply entry, it contains only apiVersion, kind, name and namespace. Extract returns [ErrNoManagedFields] if the
// object has no entries, an [*InvalidError] if Options.Unset is set and an extracted value is a map with the field
// [UnsetMarkerKey], because applying it would remove the value, an [*EntryError] if managedFields can't be decoded, and an error that wraps [ErrVersionGone]
// if the version of the request or of the entry no longer exists.
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
		return document.Value{}, fmt.Errorf("extract the fields of manager %q: %w", r.Manager, ErrVersionGone)
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
		return document.Value{}, fmt.Errorf("extract the fields of manager %q: %w", r.Manager, err)
	}
	x := extractor{markers: e.options.Unset}
	config := withIdentity(x.fields(doc.t.Map, doc.doc, fields), doc.doc)
	if len(x.problems) > 0 {
		return document.Value{}, &InvalidError{Fields: x.problems}
	}
	return config, nil
}

// withIdentity returns the configuration with the apiVersion, kind, name and namespace of the document doc.
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

// extractor builds a configuration from the fields of a document that a field set contains.
type extractor struct {
	validator
	docs    fastdoc.Builder
	markers bool // whether to add unset markers for owned fields that are absent
}

var unsetMarker = document.NewMap(document.Field{Name: UnsetMarkerKey, Value: document.NewString(UnsetMarkerValue)})

// value returns the owned part of v. below contains the owned fields below v; if it is empty, v itself is owned.
func (x *extractor) value(t *schema.Type, v document.Value, below fieldset.Set) document.Value {
	if t == nil {
		t = schema.Untyped
	}
	isMap := t.Map != nil && !t.Map.Atomic && v.Kind() == document.Map
	isList := t.List != nil && t.List.Relationship != schema.Atomic && v.Kind() == document.List
	if !below.IsEmpty() && !isMap && !isList {
		v = document.Value{} // a scalar or an atomic value has no fields to extract
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
		// A manager that owns a list but none of its items has applied null: applying an empty list does not make the
		// manager an owner.
		return document.NewNull()
	case isList, v.IsAbsent() && t.List != nil && t.List.Relationship != schema.Atomic:
		return x.nonEmpty(v, below, x.items(t.List, v, below))
	}
	if x.markers && mayContainMarker(v) {
		x.rejectMarker()
	}
	return v
}

// rejectMarker adds a problem for a stored value that a configuration cannot contain.
func (x *extractor) rejectMarker() {
	x.addProblem("expected a value without the field %s, received a stored map with this field; applying it would remove the value; change it by an update", UnsetMarkerKey)
}

// nonEmpty returns extracted, the part of the live container v that the manager owns. It returns an absent value if
// extracted is empty and the manager does not own the container itself. below contains the owned fields below v.
func (x *extractor) nonEmpty(v document.Value, below fieldset.Set, extracted document.Value) document.Value {
	if extracted.Len() == 0 && (v.IsAbsent() || !below.IsEmpty()) {
		return document.Value{}
	}
	return extracted
}

// fields returns the fields of the map v that are in set, as a map.
func (x *extractor) fields(m *schema.Map, v document.Value, set fieldset.Set) document.Value {
	mark := x.docs.Mark()
	for i := range set.Len() {
		if name := set.Element(i); name.Kind() == fieldset.FieldName {
			x.path = append(x.path, name)
			t, _ := m.TypeOf(name.Name())
			field := v.Get(name.Name())
			if x.markers && name.Name() == UnsetMarkerKey && !field.IsAbsent() {
				x.rejectMarker()
			}
			x.docs.Push(name.Name(), x.value(t, field, set.Child(i)))
			x.path = x.path[:len(x.path)-1]
		}
	}
	return x.docs.Map(mark)
}

// items returns the items of the list v that are in set, in the order of v, followed by unset markers for the items in
// set that are absent from v.
func (x *extractor) items(l *schema.List, v document.Value, set fieldset.Set) document.Value {
	present, _ := elements(l, v)
	mark := x.docs.Mark()
	for i, e := range present {
		below, member := set.Below(e)
		if member || !below.IsEmpty() {
			x.path = append(x.path, e)
			x.docs.Push("", x.item(l, v.At(i), below))
			x.path = x.path[:len(x.path)-1]
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

// item returns the owned fields and the keys of the list item v, as a map. Keys that equal their default are omitted.
func (x *extractor) item(l *schema.List, v document.Value, below fieldset.Set) document.Value {
	if l.Relationship != schema.Keyed || l.Item.Map == nil || l.Item.Map.Atomic {
		if x.markers && mayContainMarker(v) {
			x.rejectMarker()
		}
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

// withKeys returns item with its keys set to the key values in the path element e.
func withKeys(item document.Value, e fieldset.Element) document.Value {
	for _, key := range e.KeyFields() {
		item = item.With(key.Name, key.Value)
	}
	return item
}
