package watchcache

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"sync/atomic"
	"unsafe"

	"github.com/cadastre/cadastre/internal/storage"
)

// Object is one immutable version of an object. It is safe for concurrent use.
//
// Its JSON is the value in the store, which does not include its revision; a resourceVersion in the stored JSON is ignored.
// The text is
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
	// managed is the span of managedFields and the comma after it; it is empty if there are none. resourceVersion is the span in
	// place of which the revision is inserted; it is usually empty.
	//
	//	managed.end <= resourceVersion.start <= resourceVersion.end
	managed, resourceVersion span
	// deletionAt is the position before deletionTimestamp in the metadata; ownersAt is the position of the value of
	// ownerReferences. Each is 0 if the member is absent.
	deletionAt, ownersAt uint32
	labels               []Label
	// fields are the values of the resource's selectable fields, in the order of resourceCache.fields.
	fields []string
	forms  atomic.Pointer[formList]
}

// Label is a key and value of metadata.labels.
type Label struct{ Key, Value string }

// Field is a selectable field: a field that field selectors for objects of a resource may contain.
type Field struct {
	// Name is the name of the field in field selectors; Path is the path of its value in the object.
	Name string
	Path []string
	// Fallback is the path of the value that is used if the value at Path is absent or empty; nil means that there is no
	// such path.
	Fallback []string
	// Absent is the field's value for objects in which the field is absent.
	Absent string
}

// newObject returns the object with the given key, value and revision, or an UnreadableError if value is not a valid object.
// The object retains value; the caller must not modify it afterwards.
func newObject(rc *resourceCache, key string, value []byte, revision storage.Revision) (*Object, error) {
	value = trimCapacity(value)
	o := &Object{resource: rc, key: key, text: unsafe.String(unsafe.SliceData(value), len(value)), revision: revision}
	l := layout{o: o, text: o.text}
	if err := l.read(rc.fields, rc.fieldPaths); err != nil {
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

// readObject returns the object of an item of the store, or an UnreadableError.
func readObject(rc *resourceCache, item storage.Item) (*Object, error) {
	if item.Err != nil {
		return nil, &UnreadableError{Key: item.Key, Err: item.Err, HasReason: true}
	}
	return newObject(rc, item.Key, item.Value, item.Revision)
}

// CheckItem returns an error if an item of the store is not an object that a cache can serve: if its key does not name an object,
// its value is not JSON, or the name and namespace in its metadata are not those of the key.
func CheckItem(item storage.Item) error {
	key, err := ParseKey(item.Key)
	if err != nil {
		return err
	}
	if !json.Valid(item.Value) {
		return &UnreadableError{Key: item.Key, Err: errors.New("expected JSON")}
	}
	_, err = newObject(newResourceCache(key.Kind, nil, nil, nil, 0), item.Key, item.Value, item.Revision)
	return err
}

// Draft returns an object that is not in the store, such as the result of a dry run or an object converted to another API
// version. Revision 0 means that the object was never written. The object retains value; the caller must not modify it
// afterwards.
func (c *Cache) Draft(key Key, value []byte, revision storage.Revision) (*Object, error) {
	rc, _ := c.lookup(key.Kind)
	return newObject(rc, key.String(), value, revision)
}

// trimCapacity returns value, or a copy of value if the spare capacity of the slice would keep much unused memory alive.
func trimCapacity(value []byte) []byte {
	if cap(value)-len(value) > len(value)/8+64 {
		return bytes.Clone(value)
	}
	return value
}

// WithRevision returns a copy of the object whose Revision is the given revision, for DELETED events and delete responses.
// ModRevision of the copy is that of the original.
func (o *Object) WithRevision(revision storage.Revision) *Object {
	moved := o.committed(revision)
	moved.forms.Store(&formList{&form{of: modRevisionForm, value: o.ModRevision()}, nil})
	return moved
}

// committed returns a copy of the object with revision, the revision of the commit that wrote it.
func (o *Object) committed(revision storage.Revision) *Object {
	return &Object{
		resource: o.resource, key: o.key, text: o.text, revision: revision,
		managed: o.managed, resourceVersion: o.resourceVersion, deletionAt: o.deletionAt, ownersAt: o.ownersAt, labels: o.labels, fields: o.fields,
	}
}

// modRevisionForm holds the ModRevision of the objects that WithRevision returned. It is a form and not a field of Object,
// because there are few such objects and they are short-lived.
var modRevisionForm = NewForm(nil)

// ModRevision returns the revision of the commit that wrote the object, like etcd's mod_revision.
func (o *Object) ModRevision() storage.Revision {
	if there := o.forms.Load().find(modRevisionForm); there != nil {
		return there.value.(storage.Revision)
	}
	return o.revision
}

// Key returns the object's key in the store.
func (o *Object) Key() string { return o.key }

// Kind returns the object's resource as GROUP/RESOURCE.
func (o *Object) Kind() string { return o.resource.name }

// Revision returns the revision that is encoded as resourceVersion: the revision of the commit that wrote this version, or,
// in a DELETED event, the revision of the deletion.
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

// Label returns the value of the label key; ok is false if the object does not have that label.
func (o *Object) Label(key string) (value string, ok bool) {
	for i := range o.labels {
		if o.labels[i].Key == key {
			return o.labels[i].Value, true
		}
	}
	return "", false
}

// Field returns the value of the selectable field with the given name; ok is false if the resource does not have that field.
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

// Spans are the consecutive parts of an object's JSON. The whole JSON is their concatenation, with the output of
// AppendRevision inserted after Between.
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

// AppendRevision appends the resourceVersion member of the metadata to dst, preceded by a comma. It appends nothing if the
// revision is 0.
func (o *Object) AppendRevision(dst []byte) []byte {
	if o.revision == 0 {
		return dst
	}
	dst = append(dst, `,"resourceVersion":"`...)
	dst = strconv.AppendInt(dst, int64(o.revision), 10)
	return append(dst, '"')
}

// AppendJSON appends the object's JSON to dst, with resourceVersion.
func (o *Object) AppendJSON(dst []byte) []byte {
	dst = append(dst, o.text[:o.resourceVersion.start]...)
	dst = o.AppendRevision(dst)
	return append(dst, o.text[o.resourceVersion.end:]...)
}

// AppendJSONWithoutManagedFields appends the object's JSON to dst, with resourceVersion and without managedFields.
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

// Text returns the object's JSON as it is in the store, which does not include its revision.
func (o *Object) Text() string { return o.text }

// size returns the approximate memory of the object in bytes, without its cached forms.
func (o *Object) size() int {
	const labelSize, fieldSize = int(unsafe.Sizeof(Label{})), int(unsafe.Sizeof(""))
	return int(unsafe.Sizeof(*o)) + len(o.text) + len(o.key) + len(o.labels)*labelSize + len(o.fields)*fieldSize
}
