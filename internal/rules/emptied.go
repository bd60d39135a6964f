package rules

import "github.com/cadastre/cadastre/document"

// WithoutEmptied leaves out the lists and maps of an object that a change made empty: those that
// had something in them, or were not there. Go does not write them, or as null where a field is always
// written. What was empty before was sent so by somebody, and stays.
func (t *Type) WithoutEmptied(before, after document.Value) document.Value {
	if t.Elem != nil && after.Kind() == document.List {
		return t.itemsWithoutEmptied(before, after)
	}
	if after.Kind() != document.Map || document.Equal(before, after) {
		return after
	}
	result := after
	for i := range after.Len() {
		name, was, is := after.Name(i), before.Get(after.Name(i)), after.At(i)
		part, always := t.Elem, true
		if t.Kind == Struct {
			f, ok := t.Field(name)
			if !ok {
				continue
			}
			part, always = f.Type, f.Always
		}
		if part == nil {
			continue
		}
		rest := part.WithoutEmptied(was, is)
		emptied := part.Elem != nil && rest.Len() == 0 && (was.IsAbsent() || was.Len() > 0)
		switch {
		case emptied && !always:
			result = result.Without(name)
		case emptied && t.Kind == Struct:
			result = result.With(name, document.NewNull())
		case rest != is:
			result = result.With(name, rest)
		}
	}
	return result
}

// itemsWithoutEmptied does the same in the items of a list, each beside the one in its place.
func (t *Type) itemsWithoutEmptied(before, after document.Value) document.Value {
	if document.Equal(before, after) {
		return after
	}
	items, changed := make([]document.Value, after.Len()), false
	for i := range items {
		var was document.Value
		if before.Kind() == document.List && i < before.Len() {
			was = before.At(i)
		}
		items[i] = t.Elem.WithoutEmptied(was, after.At(i))
		changed = changed || items[i] != after.At(i)
	}
	if !changed {
		return after
	}
	return document.NewList(items...)
}
