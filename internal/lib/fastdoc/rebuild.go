package fastdoc

import "github.com/cadastre/cadastre/document"

// Rebuild iterates over a container and copies it as soon as one of its fields or items changes. If none changes, the
// result is the container itself.
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

// Rebuild starts an iteration over a container.
func (b *Builder) Rebuild(container document.Value) Rebuild { return Rebuild{b: b, from: container} }

// Begun reports whether the container is being copied. If so, the caller must push the fields that it does not Add.
func (r *Rebuild) Begun() bool { return r.begun }

// Begin starts the copy with the fields or items before index i, unless it has been started. The next Push adds to the
// copy.
func (r *Rebuild) Begin(i int) {
	if !r.begun {
		r.begun, r.mark = true, r.b.Mark()
		r.b.PushAll(r.from, 0, i)
	}
}

// Add adds the field or item at index i, which was old and is now value; an absent value removes it. The name is
// ignored in a list.
func (r *Rebuild) Add(i int, name string, value, old document.Value) {
	if r.begun || value != old { // inlined because most fields do not change
		r.add(i, name, value)
	}
}

func (r *Rebuild) add(i int, name string, value document.Value) {
	r.Begin(i)
	r.b.Push(name, value)
}

// Finish returns the modified container, or the original if nothing was changed.
func (r *Rebuild) Finish() document.Value {
	switch {
	case !r.begun:
		return r.from
	case r.from.Kind() == document.List:
		return r.b.List(r.mark)
	}
	return r.b.Map(r.mark)
}
