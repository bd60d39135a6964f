package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// diffList makes the patch of a list that is merged, with its directives.
func diffList(patch *patchFields, f *field, name string, v versions) error {
	if haveSameText(v.current, v.modified) || v.current.Len()+v.modified.Len() == 0 {
		return nil
	}
	kind, err := itemKind(v.current, v.modified)
	if err != nil {
		return err
	}
	if kind == document.Map && f.key == "" {
		return malformed("strings, numbers or booleans as items", "maps",
			"this list has no merge key, so that maps in it can't be told apart")
	}
	rows, err := readRows(f.key, v)
	if err != nil {
		return err
	}
	if f.key == "" {
		diffScalars(patch, name, v, rows)
		return nil
	}
	for _, side := range []side{{&rows.current, v.current}, {&rows.modified, v.modified}} {
		if a, b, ok := side.ids.twins(); ok {
			twins := ambiguous(f.key, "in the list", side.list.At(a), side.list.At(b))
			return diffTwins(patch, f, name, v, rows, twins)
		}
	}
	return diffKeyed(patch, f, name, v, rows)
}

// side is a list with the identities of its items.
type side struct {
	ids  *identities
	list document.Value
}

// rows are the identities of the items of a list's versions.
type rows struct{ original, current, modified identities }

func readRows(key string, v versions) (*rows, error) {
	r := &rows{}
	for _, row := range []side{{&r.current, v.current}, {&r.modified, v.modified}, {&r.original, v.original}} {
		if row.ids == &r.original && v.twoWay() {
			r.original = r.current
			break
		}
		row.ids.all = make([]identity, 0, row.list.Len())
		for i, item := range row.list.Items() {
			id, err := identifyItem(key, item)
			if err != nil {
				return nil, underIndex(err, i)
			}
			row.ids.add(id)
		}
	}
	return r, nil
}

// gone returns the items that the author no longer wants and that are there.
func (r *rows) gone(original document.Value) []document.Value {
	var items []document.Value
	for i, id := range r.original.all {
		if r.modified.find(id) < 0 && r.current.find(id) >= 0 && r.original.find(id) == i {
			items = append(items, original.At(i))
		}
	}
	return items
}

// reordered reports whether items that are there come in another order than the author's.
func (r *rows) reordered() bool {
	last := -1
	for _, id := range r.modified.all {
		place := r.current.find(id)
		if place < 0 {
			continue
		}
		if place < last {
			return true
		}
		last = place
	}
	return false
}

func diffScalars(patch *patchFields, name string, v versions, r *rows) {
	var added []document.Value
	for i, id := range r.modified.all {
		if r.current.find(id) < 0 && r.modified.find(id) == i {
			added = append(added, v.modified.At(i))
		}
	}
	gone := r.gone(v.original)
	if len(added) > 0 {
		patch.set(name, document.NewList(added...))
	}
	if len(gone) > 0 {
		patch.set(removeDirective+"/"+name, document.NewList(gone...))
	}
	if v.modified.Len() > 0 && (len(added)+len(gone) > 0 || r.reordered()) {
		patch.set(orderDirective+"/"+name, v.modified)
	}
}

func diffKeyed(patch *patchFields, f *field, name string, v versions, r *rows) error {
	var items []document.Value
	var fields patchFields // of one item after the other
	for i, id := range r.modified.all {
		item := v.modified.At(i)
		place := r.current.find(id)
		if place < 0 {
			items = append(items, item)
			continue
		}
		part := versions{current: v.current.At(place), modified: item}
		if before := r.original.find(id); before >= 0 {
			part.original = v.original.At(before)
		}
		fields = fields[:0]
		if err := diffFields(&fields, f.typ, f.retainKeys, part); err != nil {
			return under(err, keyStep(f.key, item.Get(f.key)))
		}
		if len(fields) > 0 {
			fields.set(f.key, item.Get(f.key))
			items = append(items, document.NewMap(fields...))
		}
	}
	for _, item := range r.gone(v.original) {
		items = append(items, document.NewMap(document.Field{Name: f.key, Value: item.Get(f.key)},
			document.Field{Name: patchDirective, Value: document.NewString("delete")}))
	}
	if len(items) > 0 {
		patch.set(name, document.NewList(items...))
	}
	// What is added to nothing needs no order: its own counts.
	if v.current.Len() > 0 && v.modified.Len() > 0 && (len(items) > 0 || r.reordered()) {
		patch.set(orderDirective+"/"+name, keysOf(f.key, v.modified))
	}
	return nil
}

// keysOf returns a list of maps of which only the key is left.
func keysOf(key string, list document.Value) document.Value {
	items := make([]document.Value, list.Len())
	for i, item := range list.Items() {
		items[i] = document.NewMap(document.Field{Name: key, Value: item.Get(key)})
	}
	return document.NewList(items...)
}
