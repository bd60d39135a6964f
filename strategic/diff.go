package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// How patches are made. There is one walk for both sorts. It looks at three maps: what the
// author wants now (modified), what he wanted before (original), and what is there (current).
// What he wants and is not there is set; what he no longer wants and is there is removed; the
// rest is somebody else's and is left alone. A two-way patch is one where the original is what
// is there.

// Diff makes a strategic merge patch that turns one map into another. Without a type, it is a
// JSON merge patch. If there is nothing to change, the patch is an empty map. Errors are of
// type [*Error].
func Diff(original, modified document.Value, t *Type) (document.Value, error) {
	return diffRoot(t, versions{original, original, modified})
}

func diffRoot(t *Type, v versions) (document.Value, error) {
	patch, err := diffMap(t, false, v)
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
	v    document.Value
	next int
}

func finder(v document.Value) fieldFinder {
	if v.Kind() != document.Map {
		return fieldFinder{}
	}
	return fieldFinder{v: v}
}

func (f *fieldFinder) find(name string) document.Value {
	for f.next < f.v.Len() {
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

// patchFields are the fields of a patch in the making.
type patchFields []document.Field

func (p *patchFields) set(name string, v document.Value) {
	if *p == nil {
		*p = make(patchFields, 0, 4)
	}
	*p = append(*p, document.Field{Name: name, Value: v})
}

// diffMap makes the patch of a map; it is absent if there is nothing to change. The patch of a map that has the
// strategy retainKeys says which fields stay.
func diffMap(t *Type, retain bool, v versions) (document.Value, error) {
	var patch patchFields
	if err := diffFields(&patch, t, retain, v); err != nil || len(patch) == 0 {
		return document.Value{}, err
	}
	return document.NewMap(patch...), nil
}

// diffFields is diffMap for who adds other fields to the patch.
func diffFields(patch *patchFields, t *Type, retain bool, v versions) error {
	if haveSameText(v.current, v.modified) {
		return nil
	}
	currents, originals := finder(v.current), finder(v.original)
	for name, modified := range v.modified.Fields() {
		part := versions{current: currents.find(name), modified: modified}
		if haveSameText(part.current, modified) {
			continue
		}
		if part.original = part.current; !v.twoWay() {
			part.original = originals.find(name)
		}
		if modified.IsNull() {
			if part.current.Kind() > document.Null {
				patch.set(name, modified)
			}
			continue
		}
		if err := diffField(patch, t.field(name), name, part); err != nil {
			return underField(err, name)
		}
	}
	currents, modifieds := finder(v.current), finder(v.modified)
	for name := range v.original.Fields() {
		if modifieds.find(name).IsAbsent() && !currents.find(name).IsAbsent() {
			patch.set(name, document.NewNull())
		}
	}
	if retain && (len(*patch) > 0 || hasOthers(v.current, v.modified)) {
		if names := presentNames(v.modified); names.Len() > 0 {
			patch.set(retainDirective, names)
		}
	}
	return nil
}

// haveSameText reports whether two values are known to be equal, at little cost.
func haveSameText(a, b document.Value) bool {
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

// hasOthers reports whether a map has fields that another lacks.
func hasOthers(current, modified document.Value) bool {
	for name, value := range current.Fields() {
		if !value.IsNull() && modified.Get(name).IsAbsent() {
			return true
		}
	}
	return false
}

// presentNames lists the fields of a map that are not null.
func presentNames(v document.Value) document.Value {
	names := make([]document.Value, 0, v.Len())
	for name, value := range v.Fields() {
		if !value.IsNull() {
			names = append(names, document.NewString(name))
		}
	}
	return document.NewList(names...)
}

// diffField makes the patch of a field that the author wants.
func diffField(patch *patchFields, f *field, name string, v versions) error {
	kind := v.modified.Kind()
	switch {
	case kind == v.current.Kind() && kind == document.Map && !f.replace:
		sub, err := diffMap(f.typ, f.retainKeys, v)
		if err == nil && sub.Len() > 0 {
			patch.set(name, sub)
		}
		return err
	case kind == v.current.Kind() && kind == document.List && f.merge:
		return diffList(patch, f, name, v)
	case !document.Equal(v.current, v.modified):
		patch.set(name, v.modified)
	}
	return nil
}
