package structural

import "github.com/cadastre/cadastre/document"

// rebuilding is a container that is built anew once one of its parts differs. The zero one has not begun.
type rebuilding struct {
	begun bool
	mark  int
}

// add adds the i-th part, which was old and is now what value says.
func (c *rebuilding) add(b *document.Builder, container document.Value, i int, name string, value, old document.Value) {
	if !c.begun {
		if document.Same(value, old) {
			return
		}
		c.begin(b, container, i)
	}
	b.Push(name, value)
}

// begin begins with the parts before the i-th.
func (c *rebuilding) begin(b *document.Builder, container document.Value, i int) {
	if !c.begun {
		c.begun, c.mark = true, b.Mark()
		b.PushAll(container, 0, i)
	}
}

// finish returns the container as it is now.
func (c *rebuilding) finish(b *document.Builder, container document.Value) document.Value {
	switch {
	case !c.begun:
		return container
	case container.Kind() == document.List:
		return b.List(c.mark)
	}
	return b.Map(c.mark)
}
