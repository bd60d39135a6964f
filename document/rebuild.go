package document

// A Rebuild is a walk over a container that is built anew once one of its parts differs, and is the same if none does.
//
//	change := b.Rebuild(container)
//	for i := range container.Len() {
//		name, old := container.Field(i)
//		change.Add(i, name, changed(old), old)
//	}
//	container = change.Finish()
type Rebuild struct {
	b     *Builder
	from  Value
	mark  int
	begun bool
}

// Rebuild starts a walk over a container.
func (b *Builder) Rebuild(container Value) Rebuild { return Rebuild{b: b, from: container} }

// Begun reports whether the container is built anew. Whoever then skips parts has to push them.
func (r *Rebuild) Begun() bool { return r.begun }

// Begin builds the container anew, beginning with the parts before the i-th, if that has not begun. What is
// pushed next comes after these.
func (r *Rebuild) Begin(i int) {
	if !r.begun {
		r.begun, r.mark = true, r.b.Mark()
		r.b.PushAll(r.from, 0, i)
	}
}

// Add adds the i-th part, which was old and is now value; an absent one leaves it out. The name is ignored in a list.
func (r *Rebuild) Add(i int, name string, value, old Value) {
	if r.begun || value != old { // which is all that most parts cost: this much is inlined
		r.add(i, name, value)
	}
}

func (r *Rebuild) add(i int, name string, value Value) {
	r.Begin(i)
	r.b.Push(name, value)
}

// Finish returns the container as it is now.
func (r *Rebuild) Finish() Value {
	switch {
	case !r.begun:
		return r.from
	case r.from.Kind() == List:
		return r.b.List(r.mark)
	}
	return r.b.Map(r.mark)
}
