package informer

import "github.com/cadastre/cadastre/internal/watchcache"

// SnapshotHandler returns a handler for cluster-scoped resources with few objects: at every change it calls changed with all
// objects of the resource, keyed by name. The function must not retain the map.
func SnapshotHandler(changed func(kind string, objects map[string]*watchcache.Object)) Handler {
	return &snapshotHandler{changed: changed, objects: map[string]map[string]*watchcache.Object{}}
}

type snapshotHandler struct {
	changed func(kind string, objects map[string]*watchcache.Object)
	objects map[string]map[string]*watchcache.Object // maps resource and name to the object
}

// Replace implements Handler.
func (w *snapshotHandler) Replace(kind string, objects []*watchcache.Object) {
	byName := make(map[string]*watchcache.Object, len(objects))
	for _, o := range objects {
		byName[o.Name()] = o
	}
	w.objects[kind] = byName
	w.changed(kind, byName)
}

// Change implements Handler.
func (w *snapshotHandler) Change(kind string, events []watchcache.Event) {
	byName := w.objects[kind]
	for _, e := range events {
		if e.Type == watchcache.Deleted {
			delete(byName, e.Object.Name())
		} else {
			byName[e.Object.Name()] = e.Object
		}
	}
	w.changed(kind, byName)
}
