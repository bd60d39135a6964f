package builtin

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// WithoutEmptied leaves out the lists and maps of an object that a patch made empty: those that
// had something in them, or were not there. Go does not write them, or as null where a field is always
// written. What was empty before was sent so by somebody, and stays; so does what the patch sends empty.
func (t *Type) WithoutEmptied(before, after, patch document.Value) document.Value {
	if t.Elem != nil && after.Kind() == document.List {
		if SendsEmpty(patch) {
			return after // the author means one of these, and a list does not tell which
		}
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
		sent := patch.Get(name)
		if part == nil || sent.Len() == 0 && (sent.Kind() == document.Map || sent.Kind() == document.List) {
			continue
		}
		rest := part.WithoutEmptied(was, is, sent)
		emptied := part.Elem != nil && rest.Len() == 0 && (was.IsAbsent() || was.Len() > 0 && !t.isCheckedEmpty(name))
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

// SendsEmpty reports whether an empty map or list is in a patch: its author means that one. What a directive has
// is not meant for the object.
func SendsEmpty(patch document.Value) bool {
	kind := patch.Kind()
	if kind != document.Map && kind != document.List {
		return false
	}
	for i := range patch.Len() {
		if kind == document.Map && strings.HasPrefix(patch.Name(i), "$") {
			continue
		}
		if SendsEmpty(patch.At(i)) {
			return true
		}
	}
	return patch.Len() == 0
}

// isCheckedEmpty is for the requests of claims. An object that has lost them is refused in any case; of what else is
// wrong with it, kube-apiserver says more if they are not there than if they are empty.
func (t *Type) isCheckedEmpty(name string) bool {
	return name == "requests" && t.Name == "io.k8s.api.core.v1.VolumeResourceRequirements"
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
		items[i] = t.Elem.WithoutEmptied(was, after.At(i), document.Value{})
		changed = changed || items[i] != after.At(i)
	}
	if !changed {
		return after
	}
	return document.NewList(items...)
}

// WithoutPruned leaves out the lists, maps and structs of an object that lost all that was in them when an applier gave
// it up, and that it did not apply empty. Kubernetes has null in their place, which Go reads as nothing. Topology tells
// which items of lists are the same.
func (t *Type) WithoutPruned(before, after, config document.Value, topology *schema.Type) document.Value {
	if document.Same(before, after) || after.Kind() != before.Kind() {
		return after
	}
	if topology == nil {
		topology = schema.Untyped
	}
	switch {
	case after.Kind() == document.Map && t.Kind == Struct:
		return t.fieldsWithoutPruned(before, after, config, topology.Map)
	case after.Kind() == document.List && t.Kind == List && topology.List != nil && topology.List.Relationship == schema.Keyed:
		return t.itemsWithoutPruned(before, after, config, topology.List)
	}
	return after
}

func (t *Type) fieldsWithoutPruned(before, after, config document.Value, topology *schema.Map) document.Value {
	result := after
	for i := range after.Len() {
		name, is := after.Field(i)
		f, known := t.Field(name)
		was, sent := before.Get(name), config.Get(name)
		if !known || document.Same(was, is) {
			continue
		}
		if !is.IsScalar() && is.Len() == 0 && was.Len() > 0 && sent.IsAbsent() {
			result = result.Without(name)
			continue
		}
		if rest := f.Type.WithoutPruned(was, is, sent, topologyOf(topology, name)); !document.Same(rest, is) {
			result = result.With(name, rest)
		}
	}
	return result
}

func (t *Type) itemsWithoutPruned(before, after, config document.Value, topology *schema.List) document.Value {
	var items []document.Value
	for i := range after.Len() {
		is := after.At(i)
		place := keyedPlace(topology.Keys, before, is, i)
		if place < 0 || document.Same(before.At(place), is) {
			continue
		}
		rest := t.Elem.WithoutPruned(before.At(place), is, sentItem(topology.Keys, config, is), topology.Item)
		if document.Same(rest, is) {
			continue
		}
		if items == nil {
			items = make([]document.Value, after.Len())
			for j := range items {
				items[j] = after.At(j)
			}
		}
		items[i] = rest
	}
	if items == nil {
		return after
	}
	return document.NewList(items...)
}

// sentItem returns the item of a configuration that has the keys of another one, which may be left out where they have
// a default; absent if there is none.
func sentItem(keys []schema.Key, config, item document.Value) document.Value {
	for _, sent := range config.Items() {
		if !slices.ContainsFunc(keys, func(key schema.Key) bool {
			value := sent.Get(key.Name)
			return !value.IsAbsent() && !document.Equal(value, item.Get(key.Name))
		}) {
			return sent
		}
	}
	return document.Value{}
}
