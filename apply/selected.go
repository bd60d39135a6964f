package apply

import (
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// selected is an item of a list that a set says something about.
type selected struct {
	index    int  // its place in the list
	at       int  // the place of its element among the first elements of the set
	repeated bool // another item of the list has the same element
}

// fewElements is how many elements are looked for in a list one by one. For more, the
// elements of all items are made.
const fewElements = 4

// selectItems appends the items of a granular list whose elements a set begins with, in
// the order of the list.
func selectItems(to []selected, l *schema.List, list document.Value, set fieldset.Set) []selected {
	if set.Len() > fewElements {
		return selectByIndex(to, l, list, set)
	}
	var first [fewElements]int // the place in what is returned, plus one
	var array [256]byte
	for i := range list.Len() {
		kind, spelled, problem := spellElement(array[:0], l, list.At(i))
		if problem != "" {
			continue
		}
		for at := range set.Len() {
			if !set.Element(at).IsSpelled(kind, spelled) {
				continue
			}
			repeated := first[at] > 0
			if repeated {
				to[first[at]-1].repeated = true
			}
			to = append(to, selected{i, at, repeated})
			first[at] = len(to)
		}
	}
	return to
}

func selectByIndex(to []selected, l *schema.List, list document.Value, set fieldset.Set) []selected {
	items, _ := elements(l, list)
	repeated := newIndex(items).duplicates()
	for i, e := range items {
		if at, found := set.Find(e); found {
			to = append(to, selected{i, at, repeated != nil && repeated[i]})
		}
	}
	return to
}

// builders keeps what builders have left of their memory for the next document.
var builders = sync.Pool{New: func() any { return new(document.Builder) }}

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
