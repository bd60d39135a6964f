package watchcache

import (
	"bytes"
	"fmt"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/cadastre/cadastre/internal/storage"
)

// Object is one version of an object. It never changes.
//
// Its JSON is kept as it is in the store: without its revision; a resourceVersion that is there
// all the same means nothing. The text is
//
//	{… "metadata":{… "managedFields":[…], "name":"web" … ◦ …} …}
//	└────before────┘└────managed────────┘└────between───┘└after┘
//
// and the revision goes where the circle is, which is its place among the sorted names.
type Object struct {
	kind     *kind
	key      string
	text     string
	revision storage.Revision
	// managed is managedFields with the comma after it, empty if there are none. place is
	// what the revision replaces, mostly nothing.
	//
	//	managed.end <= place.start <= place.end
	managed, place span
	// deletion is before deletionTimestamp in the metadata, owners where the value of
	// ownerReferences is; 0 if there is none.
	deletion, owners uint32
	labels           []Label
	// fields are the values of the kind's selector fields, in their order.
	fields []string
	forms  atomic.Pointer[formList]
}

// Label is a label of an object.
type Label struct{ Key, Value string }

// Field is something that objects of a kind can be selected by.
type Field struct {
	// Name is what selectors call it, Path where it is.
	Name string
	Path []string
	// Otherwise is where it is if there is nothing at Path, or an empty text; nil for nowhere.
	Otherwise []string
	// Absent is its value in objects that don't have it.
	Absent string
}

// newObject makes an object of what the store has, or says why it can't. The value must not be
// changed any more.
func newObject(k *kind, key string, value []byte, revision storage.Revision) (*Object, error) {
	value = fit(value)
	o := &Object{kind: k, key: key, text: unsafe.String(unsafe.SliceData(value), len(value)), revision: revision}
	l := layout{o: o, text: o.text}
	if err := l.read(k.fields, k.wanted); err != nil {
		return nil, &UnreadableError{Key: key, Err: err}
	}
	if l.name != o.Name() {
		return nil, &UnreadableError{Key: key, Err: fmt.Errorf("metadata.name: expected %q, received %q", o.Name(), l.name)}
	}
	if l.namespace != "" && l.namespace != o.Namespace() {
		return nil, &UnreadableError{Key: key, Err: fmt.Errorf("metadata.namespace: expected %q, received %q", o.Namespace(), l.namespace)}
	}
	return o, nil
}

// Draft makes an object that is not in the store: what a write would make, or an object at
// another version. Revision 0 is that of what was never written. The value must not be changed
// any more.
func (c *Cache) Draft(key Key, value []byte, revision storage.Revision) (*Object, error) {
	k, _ := c.peek(key.Kind)
	return newObject(k, key.String(), value, revision)
}

// fit returns a value without much room behind it, which would be kept as long as the value is.
func fit(value []byte) []byte {
	if cap(value)-len(value) > len(value)/8+64 {
		return bytes.Clone(value)
	}
	return value
}

// At returns the same object at another revision: what a watcher gets who loses sight of it, and who deletes it.
func (o *Object) At(revision storage.Revision) *Object {
	moved := o.committed(revision)
	moved.forms.Store(&formList{&form{of: origin, value: o.Written()}, nil})
	return moved
}

// committed returns an object that was never written as the one that a commit wrote.
func (o *Object) committed(revision storage.Revision) *Object {
	return &Object{
		kind: o.kind, key: o.key, text: o.text, revision: revision,
		managed: o.managed, place: o.place, deletion: o.deletion, owners: o.owners, labels: o.labels, fields: o.fields,
	}
}

// origin is the form of objects that are told at another revision than the one that they were written at, which it has.
// Few are, and not for long, so that not every object has a field for it.
var origin = NewForm(nil)

// Written returns the revision of the commit that wrote the object as it is.
func (o *Object) Written() storage.Revision {
	if there := o.forms.Load().find(origin); there != nil {
		return there.value.(storage.Revision)
	}
	return o.revision
}

// Key returns the key that the store has the object at.
func (o *Object) Key() string { return o.key }

// Kind returns the kind that the object is of: GROUP/RESOURCE.
func (o *Object) Kind() string { return o.kind.name }

// Revision returns that of the commit that made this version, or that of the event that tells
// of its end.
func (o *Object) Revision() storage.Revision { return o.revision }

// Namespace returns the object's namespace, "" if it has none.
func (o *Object) Namespace() string {
	namespace, _ := o.kind.place(o.key)
	return namespace
}

// Name returns the object's name.
func (o *Object) Name() string {
	_, name := o.kind.place(o.key)
	return name
}

// Labels returns the object's labels, sorted. They must not be changed.
func (o *Object) Labels() []Label { return o.labels }

// Label returns the value of a label.
func (o *Object) Label(key string) (value string, ok bool) {
	for i := range o.labels {
		if o.labels[i].Key == key {
			return o.labels[i].Value, true
		}
	}
	return "", false
}

// Field returns the value of a field that objects can be selected by.
func (o *Object) Field(name string) (value string, ok bool) {
	switch name {
	case "metadata.name":
		return o.Name(), true
	case "metadata.namespace":
		return o.Namespace(), true
	}
	for i := range o.kind.fields {
		if o.kind.fields[i].Name == name {
			return o.fields[i], true
		}
	}
	return "", false
}

// Spans are the parts of an object's JSON. Written one after the other, with the revision after
// Between, they are the object.
type Spans struct{ Before, ManagedFields, Between, After string }

// Spans returns the parts of the object's JSON. Nothing is copied.
func (o *Object) Spans() Spans {
	return Spans{
		Before:        o.text[:o.managed.start],
		ManagedFields: o.managed.of(o.text),
		Between:       o.text[o.managed.end:o.place.start],
		After:         o.text[o.place.end:],
	}
}

// AppendRevision appends the member of the metadata that has the revision, with the comma
// before it.
func (o *Object) AppendRevision(dst []byte) []byte {
	if o.revision == 0 {
		return dst
	}
	dst = append(dst, `,"resourceVersion":"`...)
	dst = strconv.AppendInt(dst, int64(o.revision), 10)
	return append(dst, '"')
}

// AppendJSON appends the whole object.
func (o *Object) AppendJSON(dst []byte) []byte {
	dst = append(dst, o.text[:o.place.start]...)
	dst = o.AppendRevision(dst)
	return append(dst, o.text[o.place.end:]...)
}

// AppendJSONWithoutManagedFields appends the object without its managedFields.
func (o *Object) AppendJSONWithoutManagedFields(dst []byte) []byte {
	dst = append(dst, o.text[:o.managed.start]...)
	dst = append(dst, o.text[o.managed.end:o.place.start]...)
	dst = o.AppendRevision(dst)
	return append(dst, o.text[o.place.end:]...)
}

// JSONWithoutManagedFields returns the object without its managedFields: what those read who work on objects in this
// process, and can do without as clients can that say so.
func (o *Object) JSONWithoutManagedFields() []byte {
	return o.AppendJSONWithoutManagedFields(make([]byte, 0, o.JSONSize()-len(o.managed.of(o.text))))
}

// JSONSize returns how many bytes AppendJSON appends at most.
func (o *Object) JSONSize() int { return len(o.text) + len(`,"resourceVersion":"9223372036854775807"`) }

// Text returns the object's JSON as the store has it: without its revision.
func (o *Object) Text() string { return o.text }

// size is about how much memory the object takes.
func (o *Object) size() int {
	const labelSize, fieldSize = int(unsafe.Sizeof(Label{})), int(unsafe.Sizeof(""))
	return int(unsafe.Sizeof(*o)) + len(o.text) + len(o.key) + len(o.labels)*labelSize + len(o.fields)*fieldSize
}
