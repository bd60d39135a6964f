package apply

import (
	"cmp"
	"slices"

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
	var last [fewElements]int // the place in what is returned of the last with the element, plus one
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
			repeated := last[at] > 0
			if repeated {
				to[last[at]-1].repeated = true
			}
			to = append(to, selected{i, at, repeated})
			last[at] = len(to)
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

// itemsOf selects the items of a granular list that a set begins with; of all else,
// nothing. They are in the order of the set, the first of those that are repeated first.
func itemsOf(to []selected, t *schema.Type, v document.Value, set fieldset.Set) []selected {
	if v.Kind() != document.List || t.List == nil || t.List.Relationship == schema.Atomic {
		return nil
	}
	to = selectItems(to, t.List, v, set)
	slices.SortStableFunc(to, func(a, b selected) int { return cmp.Compare(a.at, b.at) })
	return to
}

// childOf returns the field or item that an element selects, which is the one in the
// given place of the set; absent if there is none.
func childOf(v document.Value, items []selected, e fieldset.Element, at int) document.Value {
	if e.Kind() == fieldset.FieldName {
		return v.Get(e.Name())
	}
	if i, found := slices.BinarySearchFunc(items, at, func(s selected, at int) int { return cmp.Compare(s.at, at) }); found {
		return v.At(items[i].index)
	}
	return document.Value{}
}
