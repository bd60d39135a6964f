package fastdoc

import "github.com/cadastre/cadastre/document"

// Rebuild copies a list or map while the caller iterates over it, but only from the first field or item that changes.
// If none changes, the result is the list or map itself.
//
//	change := b.Rebuild(container)
//	for i := range container.Len() {
//		name, old := container.Field(i)
//		change.Add(i, name, changed(old), old)
//	}
//	container = change.Finish()
type Rebuild struct {
	b     *Builder
	from  document.Value
	mark  int
	begun bool
}

// Rebuild starts the iteration over a list or map.
func (b *Builder) Rebuild(container document.Value) Rebuild { return Rebuild{b: b, from: container} }

// Begun reports whether the copy has been started. From then on, a field that the caller neither adds with Add nor
// pushes to the Builder is missing in the result.
func (r *Rebuild) Begun() bool { return r.begun }

// Begin starts the copy, unless it has been started, with the fields or items before index i. The next Push to the
// Builder adds to the copy.
func (r *Rebuild) Begin(i int) {
	if !r.begun {
		r.begun, r.mark = true, r.b.Mark()
		r.b.PushAll(r.from, 0, i)
	}
}

// Add adds the field or item at index i, whose original value is old and whose new value is value; an absent value
// removes it. The name is ignored in a list.
func (r *Rebuild) Add(i int, name string, value, old document.Value) {
	if r.begun || value != old { // most fields do not change; only this test is inlined
		r.add(i, name, value)
	}
}

func (r *Rebuild) add(i int, name string, value document.Value) {
	r.Begin(i)
	r.b.Push(name, value)
}

// Finish returns the modified list or map, or the original one if nothing was changed.
func (r *Rebuild) Finish() document.Value {
	switch {
	case !r.begun:
		return r.from
	case r.from.Kind() == document.List:
		return r.b.List(r.mark)
	}
	return r.b.Map(r.mark)
}
