package apply

import "github.com/cadastre/cadastre/document"

// edited is a container of which some fields or items are replaced, in order. As long
// as none is, it is the container itself.
type edited struct {
	docs    *document.Builder
	from    document.Value
	mark    int
	done    int // how many fields or items of from are behind
	changed bool
}

func edit(docs *document.Builder, from document.Value) edited {
	return edited{docs: docs, from: from, mark: docs.Mark()}
}

// set gives the i-th field or item another value; an absent one removes it.
func (e *edited) set(i int, v document.Value) {
	if v == e.from.At(i) {
		return
	}
	e.changed = true
	e.docs.PushAll(e.from, e.done, i)
	name := ""
	if e.from.Kind() == document.Map {
		name = e.from.Name(i)
	}
	e.docs.Push(name, v)
	e.done = i + 1
}

// result finishes the container.
func (e *edited) result() document.Value {
	if !e.changed {
		return e.from
	}
	e.docs.PushAll(e.from, e.done, e.from.Len())
	if e.from.Kind() == document.Map {
		return e.docs.Map(e.mark)
	}
	return e.docs.List(e.mark)
}
