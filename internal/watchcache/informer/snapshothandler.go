package informer

import "github.com/cadastre/cadastre/internal/watchcache"

// SnapshotHandler returns a handler for cluster-scoped resources with few objects. After every change it calls changed with
// all objects of the resource, keyed by name. changed must not retain the map objects.
func SnapshotHandler(changed func(kind string, objects map[string]*watchcache.Object)) Handler {
	return &snapshotHandler{changed: changed, objects: map[string]map[string]*watchcache.Object{}}
}

type snapshotHandler struct {
	changed func(kind string, objects map[string]*watchcache.Object)
	objects map[string]map[string]*watchcache.Object // maps resource and name to the object
}

// Replace implements Handler.
func (h *snapshotHandler) Replace(kind string, objects []*watchcache.Object) {
	byName := make(map[string]*watchcache.Object, len(objects))
	for _, o := range objects {
		byName[o.Name()] = o
	}
	h.objects[kind] = byName
	h.changed(kind, byName)
}

// Change implements Handler.
func (h *snapshotHandler) Change(kind string, events []watchcache.Event) {
	byName := h.objects[kind]
	for _, e := range events {
		if e.Type == watchcache.Deleted {
			delete(byName, e.Object.Name())
		} else {
			byName[e.Object.Name()] = e.Object
		}
	}
	h.changed(kind, byName)
}
