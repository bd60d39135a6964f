package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// Two-way and three-way patches are computed by the same recursion over three maps: the new configuration (modified),
// the last applied configuration (original) and the live object (current). The patch sets the fields of modified that
// differ from current, and removes the fields of original that are in current but not in modified; it leaves all other
// fields of current unchanged. In a two-way patch, original and current are the same value.

// Diff returns a strategic merge patch that turns the map original into the map modified; absent and null values are
// treated as empty maps. With a nil Type it returns a JSON merge patch. If nothing changes, the patch is an empty map.
// Errors are of type [*Error].
func Diff(original, modified document.Value, t *Type) (document.Value, error) {
	d := newDiffer()
	defer d.free()
	return d.diffRoot(t, versions{original, original, modified})
}

// diffRoot returns the patch of an object, or an empty map if nothing changes.
func (d *differ) diffRoot(t *Type, v versions) (document.Value, error) {
	for _, input := range []document.Value{v.original, v.current, v.modified} {
		if input.IsScalar() || input.Kind() == document.List {
			return document.Value{}, malformed("an object, which is a map", describe(input), "")
		}
	}
	patch, err := d.diffMap(t, false, v)
	if err == nil && patch.IsAbsent() {
		patch = document.NewMap()
	}
	return patch, err
}

// versions are the three inputs of a diff for one part of an object; each may be absent.
type versions struct{ original, current, modified document.Value }

// isTwoWay reports whether the diff of this part is two-way: original and current are the same value in memory.
func (v versions) isTwoWay() bool { return document.Same(v.original, v.current) }

// fieldFinder finds the fields of a map in one pass. The names must be searched in ascending order.
type fieldFinder struct {
	v         document.Value
	next, end int
}

// newFieldFinder returns a finder for the fields of v. If v is not a map, it finds no fields.
func newFieldFinder(v document.Value) fieldFinder {
	if v.Kind() != document.Map {
		return fieldFinder{}
	}
	return fieldFinder{v: v, end: v.Len()}
}

// find returns the value of the field with the given name, absent if the map has no such field. The name must not be
// less than the name of the previous call.
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

// diffMap returns the patch of a map, absent if nothing changes. If retain is true, a non-empty patch contains a
// $retainKeys directive.
func (d *differ) diffMap(t *Type, retain bool, v versions) (document.Value, error) {
	mark := d.build.Mark()
	if err := d.diffFields(t, retain, v); err != nil || d.build.Pushed(mark) == 0 {
		return document.Value{}, err
	}
	return d.build.SortedMap(mark), nil
}

// diffFields pushes the fields of a map's patch to the builder, to which the caller can add further fields.
func (d *differ) diffFields(t *Type, retain bool, v versions) error {
	if equalText(v.current, v.modified) {
		return nil
	}
	mark := d.build.Mark()
	found, err := d.diffModified(t, v)
	if err != nil {
		return err
	}
	if found < v.current.Len() { // otherwise modified contains all fields of current, and none is removed
		d.diffRemoved(v)
	}
	if retain && (d.build.Pushed(mark) > 0 || hasExtraFields(v.current, v.modified)) {
		if names := nonNullNames(v.modified); names.Len() > 0 {
			d.build.Push(retainDirective, names)
		}
	}
	return nil
}

// diffModified pushes the fields of modified that differ from current. found is the number of fields of modified that
// are also in current.
func (d *differ) diffModified(t *Type, v versions) (found int, err error) {
	twoWay := v.isTwoWay()
	currentFields, originalFields, modifiedFields := newFieldFinder(v.current), newFieldFinder(v.original), newFieldFinder(v.modified)
	for i := range modifiedFields.end {
		name, modified := v.modified.Field(i)
		part := versions{current: currentFields.find(name), modified: modified}
		if !part.current.IsAbsent() {
			found++
		}
		if equalText(part.current, modified) {
			continue
		}
		if part.original = part.current; !twoWay {
			part.original = originalFields.find(name)
		}
		if modified.IsNull() {
			if part.current.Kind() > document.Null {
				d.build.Push(name, modified)
			}
			continue
		}
		if err := d.diffField(t, name, part); err != nil {
			return found, prefixField(err, name)
		}
	}
	return found, nil
}

// diffRemoved pushes null for the fields of original that are in current but not in modified.
func (d *differ) diffRemoved(v versions) {
	currentFields, modifiedFields, originalFields := newFieldFinder(v.current), newFieldFinder(v.modified), newFieldFinder(v.original)
	for i := range originalFields.end {
		name := v.original.Name(i)
		if modifiedFields.find(name).IsAbsent() && !currentFields.find(name).IsAbsent() {
			d.build.Push(name, document.NewNull())
		}
	}
}

// equalText reports whether two values are the same part of a document, or have equal canonical JSON that is available
// without encoding. It may return false for equal values, because it does not compare them deeply.
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

// hasExtraFields reports whether current contains non-null fields that are not in modified.
func hasExtraFields(current, modified document.Value) bool {
	for name, value := range current.Fields() {
		if !value.IsNull() && modified.Get(name).IsAbsent() {
			return true
		}
	}
	return false
}

// nonNullNames returns the names of the fields of a map whose values are not null, as a list value.
func nonNullNames(v document.Value) document.Value {
	names := make([]document.Value, 0, v.Len())
	for name, value := range v.Fields() {
		if !value.IsNull() {
			names = append(names, document.NewString(name))
		}
	}
	return document.NewList(names...)
}

// diffField pushes the patch of one field of modified, if it changes.
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

// diffSubmap pushes the patch of a field that is a map and does not have the patch strategy replace, if it changes.
func (d *differ) diffSubmap(f *field, name string, v versions) error {
	sub, err := d.diffMap(f.typ, f.retainKeys, v)
	if err == nil && sub.Len() > 0 {
		d.build.Push(name, sub)
	}
	return err
}
