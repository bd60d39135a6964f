package document

// A Rebuild is a walk over a container that is built anew once one of its parts differs, and is the same if none does. The zero
// one has not begun.
type Rebuild struct {
	begun bool
	mark  int
}

// Begun reports whether the container is built anew.
func (r *Rebuild) Begun() bool { return r.begun }

// Begin builds the container anew, beginning with the parts before the i-th, if that has not begun.
func (r *Rebuild) Begin(b *Builder, container Value, i int) {
	if !r.begun {
		r.begun, r.mark = true, b.Mark()
		b.PushAll(container, 0, i)
	}
}

// Add adds the i-th part, which was old and is now what value says.
func (r *Rebuild) Add(b *Builder, container Value, i int, name string, value, old Value) {
	if !r.begun {
		if Same(value, old) {
			return
		}
		r.Begin(b, container, i)
	}
	b.Push(name, value)
}

// Finish returns the container as it is now.
func (r *Rebuild) Finish(b *Builder, container Value) Value {
	switch {
	case !r.begun:
		return container
	case container.Kind() == List:
		return b.List(r.mark)
	}
	return b.Map(r.mark)
}
