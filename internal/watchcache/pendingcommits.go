package watchcache

import (
	"sync"
	"unsafe"

	"github.com/cadastre/cadastre/internal/storage"
)

// pendingCommits are the objects of the commits under way. Commit parses an object to validate it; when the store
// reports the commit, the follower takes the parsed object instead of parsing the value again. BenchmarkCommit
// measures 0.86x the CPU time of a commit. An object is found by the address of its value, which a store may pass on
// as it is; one that reports a copy, as after reading from disk, costs a second parse and nothing else.
type pendingCommits struct {
	mu      sync.Mutex
	objects map[*byte]*Object
}

// add registers objects before they are committed. A delete has no object.
func (p *pendingCommits) add(objects []*Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.objects == nil {
		p.objects = map[*byte]*Object{}
	}
	for _, o := range objects {
		if o != nil {
			p.objects[unsafe.StringData(o.text)] = o
		}
	}
}

// drop removes the objects of a commit that has ended and that the follower has not taken.
func (p *pendingCommits) drop(objects []*Object) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, o := range objects {
		if o != nil {
			delete(p.objects, unsafe.StringData(o.text))
		}
	}
}

// take returns the object of an event at the event's revision, nil if no commit under way has its value.
func (p *pendingCommits) take(k *kind, event storage.Event) *Object {
	data := unsafe.SliceData(event.Value)
	p.mu.Lock()
	o := p.objects[data]
	delete(p.objects, data)
	p.mu.Unlock()
	if o == nil || o.kind != k || o.key != event.Key || len(o.text) != len(event.Value) {
		return nil
	}
	o.revision = event.Revision // no other goroutine has the object yet
	return o
}
