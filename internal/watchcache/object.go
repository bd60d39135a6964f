package watchcache

import (
	"bytes"
	"fmt"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/cadastre/cadastre/internal/storage"
)

// Object is one immutable version of an object. It is safe for concurrent use.
//
// Its JSON is that of the store, without its revision; a resourceVersion in the stored JSON is ignored. The text is
//
//	{… "metadata":{… "managedFields":[…], "name":"web" … ◦ …} …}
//	└────before────┘└────managed────────┘└────between───┘└after┘
//
// where ◦ is the position of resourceVersion in the sorted metadata.
type Object struct {
	resource *resourceCache
	key      string
	text     string
	revision storage.Revision
	// managed spans managedFields and the comma after it; empty if there are none. resourceVersion is the span that
	// the revision replaces, usually empty.
	//
	//	managed.end <= resourceVersion.start <= resourceVersion.end
	managed, resourceVersion span
	// deletionAt is the position before deletionTimestamp in the metadata, ownersAt the position of the value of
	// ownerReferences; 0 if absent.
	deletionAt, ownersAt uint32
	labels               []Label
	// fields are the values of the resource's selectable fields, in the order of resourceCache.fields.
	fields []string
	forms  atomic.Pointer[formList]
}

// Label is a key and value of metadata.labels.
type Label struct{ Key, Value string }

// Field is a selectable field of a resource.
type Field struct {
	// Name is the name in field selectors, Path the path of the value in the object.
	Name string
	Path []string
	// Otherwise is the path that is used if the value at Path is absent or empty; nil if there is none.
	Otherwise []string
	// Absent is the value for objects that lack the field.
	Absent string
}

// newObject returns the object with a key and value, or an UnreadableError. The object retains the value, which must
// not be modified any more.
func newObject(k *resourceCache, key string, value []byte, revision storage.Revision) (*Object, error) {
	value = trimCapacity(value)
	o := &Object{resource: k, key: key, text: unsafe.String(unsafe.SliceData(value), len(value)), revision: revision}
	l := layout{o: o, text: o.text}
	if err := l.read(k.fields, k.fieldPaths); err != nil {
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

// Draft returns an object that is not in the store, such as the result of a dry run or an object at another API
// version. Revision 0 means that it was never written. The object retains the value, which must not be modified any
// more.
func (c *Cache) Draft(key Key, value []byte, revision storage.Revision) (*Object, error) {
	k, _ := c.lookup(key.Kind)
	return newObject(k, key.String(), value, revision)
}

// trimCapacity returns a value without much spare capacity, which the value would keep alive. It copies the value if
// needed.
func trimCapacity(value []byte) []byte {
	if cap(value)-len(value) > len(value)/8+64 {
		return bytes.Clone(value)
	}
	return value
}

// WithRevision returns the object at another revision, as DELETED events and delete responses need it. ModRevision is
// retained.
func (o *Object) WithRevision(revision storage.Revision) *Object {
	moved := o.committed(revision)
	moved.forms.Store(&formList{&form{of: modRevisionForm, value: o.ModRevision()}, nil})
	return moved
}

// committed returns a copy of the object at the revision of its commit.
func (o *Object) committed(revision storage.Revision) *Object {
	return &Object{
		resource: o.resource, key: o.key, text: o.text, revision: revision,
		managed: o.managed, resourceVersion: o.resourceVersion, deletionAt: o.deletionAt, ownersAt: o.ownersAt, labels: o.labels, fields: o.fields,
	}
}

// modRevisionForm holds the ModRevision of objects that WithRevision returned. It is a form, not a field of Object,
// because such objects are few and short-lived.
var modRevisionForm = NewForm(nil)

// ModRevision returns the revision of the commit that wrote the object, as etcd's mod_revision.
func (o *Object) ModRevision() storage.Revision {
	if there := o.forms.Load().find(modRevisionForm); there != nil {
		return there.value.(storage.Revision)
	}
	return o.revision
}

// Key returns the object's key in the store.
func (o *Object) Key() string { return o.key }

// Kind returns the object's resource: GROUP/RESOURCE.
func (o *Object) Kind() string { return o.resource.name }

// Revision returns the revision that is encoded as resourceVersion: that of the commit that wrote this version, or,
// in a DELETED event, that of the deletion.
func (o *Object) Revision() storage.Revision { return o.revision }

// Namespace returns the object's namespace; "" if it is cluster-scoped.
func (o *Object) Namespace() string {
	namespace, _ := o.resource.splitKey(o.key)
	return namespace
}

// Name returns the object's name.
func (o *Object) Name() string {
	_, name := o.resource.splitKey(o.key)
	return name
}

// Labels returns the object's labels, sorted by key. The caller must not modify them.
func (o *Object) Labels() []Label { return o.labels }

// Label returns the value of a label, and whether the object has it.
func (o *Object) Label(key string) (value string, ok bool) {
	for i := range o.labels {
		if o.labels[i].Key == key {
			return o.labels[i].Value, true
		}
	}
	return "", false
}

// Field returns the value of a selectable field; ok is false if the resource has no such field.
func (o *Object) Field(name string) (value string, ok bool) {
	switch name {
	case "metadata.name":
		return o.Name(), true
	case "metadata.namespace":
		return o.Namespace(), true
	}
	for i := range o.resource.fields {
		if o.resource.fields[i].Name == name {
			return o.fields[i], true
		}
	}
	return "", false
}

// Spans are the parts of an object's JSON. Their concatenation, with AppendRevision's output after Between, is the
// object.
type Spans struct{ Before, ManagedFields, Between, After string }

// Spans returns the parts of the object's JSON without copying.
func (o *Object) Spans() Spans {
	return Spans{
		Before:        o.text[:o.managed.start],
		ManagedFields: o.managed.of(o.text),
		Between:       o.text[o.managed.end:o.resourceVersion.start],
		After:         o.text[o.resourceVersion.end:],
	}
}

// AppendRevision appends the resourceVersion member of the metadata, preceded by a comma. It appends nothing at
// revision 0.
func (o *Object) AppendRevision(dst []byte) []byte {
	if o.revision == 0 {
		return dst
	}
	dst = append(dst, `,"resourceVersion":"`...)
	dst = strconv.AppendInt(dst, int64(o.revision), 10)
	return append(dst, '"')
}

// AppendJSON appends the object's JSON, with resourceVersion.
func (o *Object) AppendJSON(dst []byte) []byte {
	dst = append(dst, o.text[:o.resourceVersion.start]...)
	dst = o.AppendRevision(dst)
	return append(dst, o.text[o.resourceVersion.end:]...)
}

// AppendJSONWithoutManagedFields appends the object's JSON, with resourceVersion and without managedFields.
func (o *Object) AppendJSONWithoutManagedFields(dst []byte) []byte {
	dst = append(dst, o.text[:o.managed.start]...)
	dst = append(dst, o.text[o.managed.end:o.resourceVersion.start]...)
	dst = o.AppendRevision(dst)
	return append(dst, o.text[o.resourceVersion.end:]...)
}

// JSONWithoutManagedFields returns the object's JSON, with resourceVersion and without managedFields.
func (o *Object) JSONWithoutManagedFields() []byte {
	return o.AppendJSONWithoutManagedFields(make([]byte, 0, o.JSONSize()-len(o.managed.of(o.text))))
}

// JSONSize returns the maximum number of bytes that AppendJSON appends.
func (o *Object) JSONSize() int { return len(o.text) + len(`,"resourceVersion":"9223372036854775807"`) }

// Text returns the object's JSON without its revision, as in the store.
func (o *Object) Text() string { return o.text }

// size returns the approximate memory of the object in bytes.
func (o *Object) size() int {
	const labelSize, fieldSize = int(unsafe.Sizeof(Label{})), int(unsafe.Sizeof(""))
	return int(unsafe.Sizeof(*o)) + len(o.text) + len(o.key) + len(o.labels)*labelSize + len(o.fields)*fieldSize
}
