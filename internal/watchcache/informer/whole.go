package informer

import "github.com/cadastre/cadastre/internal/watchcache"

// Whole returns a keeper for kinds of few objects and no namespaces: whenever one changes it calls a function with all
// of them, by name. The function must not keep the map.
func Whole(changed func(kind string, objects map[string]*watchcache.Object)) Keeper {
	return &whole{changed: changed, there: map[string]map[string]*watchcache.Object{}}
}

type whole struct {
	changed func(kind string, objects map[string]*watchcache.Object)
	there   map[string]map[string]*watchcache.Object // by kind and name
}

// Replace implements Keeper.
func (w *whole) Replace(kind string, objects []*watchcache.Object) {
	there := make(map[string]*watchcache.Object, len(objects))
	for _, o := range objects {
		there[o.Name()] = o
	}
	w.there[kind] = there
	w.changed(kind, there)
}

// Change implements Keeper.
func (w *whole) Change(kind string, events []watchcache.Event) {
	there := w.there[kind]
	for _, e := range events {
		if e.Type == watchcache.Deleted {
			delete(there, e.Object.Name())
		} else {
			there[e.Object.Name()] = e.Object
		}
	}
	w.changed(kind, there)
}
