package cache

import (
	"sync"
	"unsafe"

	"github.com/cadastre/cadastre/internal/store"
)

// expected are the objects that are being committed. An object is read before it is committed, to see
// whether it can be; when the store tells that it was, it need not be read again. They are known by the
// memory of their values, which the store passes on as it is, unless it had to read it from disk.
type expected struct {
	mu      sync.Mutex
	objects map[*byte]*Object
}

// add notes what is going to be committed. A delete has no object.
func (e *expected) add(objects []*Object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.objects == nil {
		e.objects = map[*byte]*Object{}
	}
	for _, o := range objects {
		if o != nil {
			e.objects[unsafe.StringData(o.text)] = o
		}
	}
}

// drop forgets what was not committed, or not seen to be.
func (e *expected) drop(objects []*Object) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, o := range objects {
		if o != nil {
			delete(e.objects, unsafe.StringData(o.text))
		}
	}
}

// take returns the object that an event is about at the revision of the event, nil if it was not
// expected.
func (e *expected) take(k *kind, event store.Event) *Object {
	data := unsafe.SliceData(event.Value)
	e.mu.Lock()
	o := e.objects[data]
	delete(e.objects, data)
	e.mu.Unlock()
	if o == nil || o.kind != k || o.key != event.Key || len(o.text) != len(event.Value) {
		return nil
	}
	o.revision = event.Revision // nobody else has it yet
	return o
}
