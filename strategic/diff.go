package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// How patches are made. There is one walk for both sorts. It looks at three maps: what the
// author wants now (modified), what he wanted before (original), and what is there (current).
// What he wants and is not there is set; what he no longer wants and is there is removed; the
// rest is somebody else's and is left alone. A two-way patch is one where the original is what
// is there.

// Diff returns a strategic merge patch that turns one map into another; absent and null count as an empty map. With a
// nil type it is a JSON merge patch. If nothing changes, the patch is an empty map. Errors are of type [*Error].
func Diff(original, modified document.Value, t *Type) (document.Value, error) {
	d := newDiffer()
	defer d.free()
	return d.diffRoot(t, versions{original, original, modified})
}

// diffRoot makes the patch of an object; it is an empty map if there is nothing to change.
func (d *differ) diffRoot(t *Type, v versions) (document.Value, error) {
	for _, whole := range []document.Value{v.original, v.current, v.modified} {
		if whole.IsScalar() || whole.Kind() == document.List {
			return document.Value{}, malformed("an object, which is a map", describe(whole), "")
		}
	}
	patch, err := d.diffMap(t, false, v)
	if err == nil && patch.IsAbsent() {
		patch = document.NewMap()
	}
	return patch, err
}

// versions are those of one part of an object; each may be absent.
type versions struct{ original, current, modified document.Value }

// twoWay reports whether all that is there is the author's.
func (v versions) twoWay() bool { return document.Same(v.original, v.current) }

// fieldFinder finds the fields of a map that is asked for names in their order.
type fieldFinder struct {
	v         document.Value
	next, end int
}

func newFieldFinder(v document.Value) fieldFinder {
	if v.Kind() != document.Map {
		return fieldFinder{}
	}
	return fieldFinder{v: v, end: v.Len()}
}

func (f *fieldFinder) find(name string) document.Value {
	for f.next < f.end {
		switch found := f.v.Name(f.next); {
		case found == name:
			return f.v.At(f.next)
		case found > name:
			return document.Value{}
		}
		f.next++
	}
	return document.Value{}
}

// diffMap makes the patch of a map; it is absent if there is nothing to change. The patch of a map that has the
// strategy retainKeys says which fields stay.
func (d *differ) diffMap(t *Type, retain bool, v versions) (document.Value, error) {
	mark := d.build.Mark()
	if err := d.diffFields(t, retain, v); err != nil || d.build.Pushed(mark) == 0 {
		return document.Value{}, err
	}
	return d.build.SortedMap(mark), nil
}

// diffFields is diffMap for who adds other fields to the patch: it pushes them.
func (d *differ) diffFields(t *Type, retain bool, v versions) error {
	if equalText(v.current, v.modified) {
		return nil
	}
	mark := d.build.Mark()
	found, err := d.diffModified(t, v)
	if err != nil {
		return err
	}
	if found < v.current.Len() { // otherwise all that is there is wanted
		d.diffRemoved(v)
	}
	if retain && (d.build.Pushed(mark) > 0 || hasExtraFields(v.current, v.modified)) {
		if names := nonNullNames(v.modified); names.Len() > 0 {
			d.build.Push(retainDirective, names)
		}
	}
	return nil
}

// diffModified sets what the author wants and is not there. It returns how many fields are
// wanted and there.
func (d *differ) diffModified(t *Type, v versions) (found int, err error) {
	twoWay := v.twoWay()
	currents, originals, wanted := newFieldFinder(v.current), newFieldFinder(v.original), newFieldFinder(v.modified)
	for i := range wanted.end {
		name, modified := v.modified.Field(i)
		part := versions{current: currents.find(name), modified: modified}
		if !part.current.IsAbsent() {
			found++
		}
		if equalText(part.current, modified) {
			continue
		}
		if part.original = part.current; !twoWay {
			part.original = originals.find(name)
		}
		if modified.IsNull() {
			if part.current.Kind() > document.Null {
				d.build.Push(name, modified)
			}
			continue
		}
		if err := d.diffField(t, name, part); err != nil {
			return found, underField(err, name)
		}
	}
	return found, nil
}

// diffRemoved removes what the author no longer wants and is there.
func (d *differ) diffRemoved(v versions) {
	currents, wanted, originals := newFieldFinder(v.current), newFieldFinder(v.modified), newFieldFinder(v.original)
	for i := range originals.end {
		name := v.original.Name(i)
		if wanted.find(name).IsAbsent() && !currents.find(name).IsAbsent() {
			d.build.Push(name, document.NewNull())
		}
	}
}

// equalText reports whether two values are known to be equal, at little cost.
func equalText(a, b document.Value) bool {
	if document.Same(a, b) {
		return true
	}
	x, known := a.CanonicalJSON()
	if !known {
		return false
	}
	y, known := b.CanonicalJSON()
	return known && x == y
}

// hasExtraFields reports whether a map has fields that another lacks.
func hasExtraFields(current, modified document.Value) bool {
	for name, value := range current.Fields() {
		if !value.IsNull() && modified.Get(name).IsAbsent() {
			return true
		}
	}
	return false
}

// nonNullNames lists the fields of a map that are not null.
func nonNullNames(v document.Value) document.Value {
	names := make([]document.Value, 0, v.Len())
	for name, value := range v.Fields() {
		if !value.IsNull() {
			names = append(names, document.NewString(name))
		}
	}
	return document.NewList(names...)
}

// diffField makes the patch of a field that the author wants.
func (d *differ) diffField(t *Type, name string, v versions) error {
	if kind := v.modified.Kind(); kind == v.current.Kind() {
		switch kind {
		case document.Map:
			if f := t.field(name); !f.replace {
				return d.diffSubmap(f, name, v)
			}
		case document.List:
			if f := t.field(name); f.merge {
				return d.diffList(f, name, v)
			}
		}
	}
	if !document.Equal(v.current, v.modified) {
		d.build.Push(name, v.modified)
	}
	return nil
}

// diffSubmap makes the patch of a map that is merged.
func (d *differ) diffSubmap(f *field, name string, v versions) error {
	sub, err := d.diffMap(f.typ, f.retainKeys, v)
	if err == nil && sub.Len() > 0 {
		d.build.Push(name, sub)
	}
	return err
}
