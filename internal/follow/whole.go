package follow

import "github.com/cadastre/cadastre/internal/cache"

// Whole returns a keeper for kinds of few objects and no namespaces: whenever one changes it calls a function with all
// of them, by name. The function must not keep the map.
func Whole(changed func(kind string, objects map[string]*cache.Object)) Keeper {
	return &whole{changed: changed, there: map[string]map[string]*cache.Object{}}
}

type whole struct {
	changed func(kind string, objects map[string]*cache.Object)
	there   map[string]map[string]*cache.Object // by kind and name
}

// Replace implements Keeper.
func (w *whole) Replace(kind string, objects []*cache.Object) {
	there := make(map[string]*cache.Object, len(objects))
	for _, o := range objects {
		there[o.Name()] = o
	}
	w.there[kind] = there
	w.changed(kind, there)
}

// Change implements Keeper.
func (w *whole) Change(kind string, events []cache.Event) {
	there := w.there[kind]
	for _, e := range events {
		if e.Type == cache.Deleted {
			delete(there, e.Object.Name())
		} else {
			there[e.Object.Name()] = e.Object
		}
	}
	w.changed(kind, there)
}
