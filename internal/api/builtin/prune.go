package builtin

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// DropEmptied returns after without the lists and maps that a patch has emptied or created empty, because encoding Go structs
// omits them; fields without omitempty become null. before is the object before the patch. Lists and maps that were empty
// before, or that the patch itself contains as empty, are retained.
func (t *Type) DropEmptied(before, after, patch document.Value) document.Value {
	if t.Elem != nil && after.Kind() == document.List {
		if HasEmptyContainer(patch) {
			return after // the patch contains an empty list or map, which cannot be matched with an item of after
		}
		return t.dropEmptiedInItems(before, after)
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
		rest := part.DropEmptied(was, is, sent)
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

// HasEmptyContainer reports whether a patch contains an empty map or list, except as the value of a strategic merge patch
// directive.
func HasEmptyContainer(patch document.Value) bool {
	kind := patch.Kind()
	if kind != document.Map && kind != document.List {
		return false
	}
	for i := range patch.Len() {
		if kind == document.Map && strings.HasPrefix(patch.Name(i), "$") {
			continue
		}
		if HasEmptyContainer(patch.At(i)) {
			return true
		}
	}
	return patch.Len() == 0
}

// isCheckedEmpty reports whether DropEmptied must retain the named field of the type as an empty map. This applies to
// resources.requests of PersistentVolumeClaims: without requests a claim is rejected in any case, but kube-apiserver reports
// other errors if the field is absent than if it is empty.
func (t *Type) isCheckedEmpty(name string) bool {
	return name == "requests" && t.Name == "io.k8s.api.core.v1.VolumeResourceRequirements"
}

// dropEmptiedInItems returns a list in which DropEmptied is applied to each item. Items before and after are matched by
// index.
func (t *Type) dropEmptiedInItems(before, after document.Value) document.Value {
	if document.Equal(before, after) {
		return after
	}
	items, changed := make([]document.Value, after.Len()), false
	for i := range items {
		var was document.Value
		if before.Kind() == document.List && i < before.Len() {
			was = before.At(i)
		}
		items[i] = t.Elem.DropEmptied(was, after.At(i), document.Value{})
		changed = changed || items[i] != after.At(i)
	}
	if !changed {
		return after
	}
	return document.NewList(items...)
}

// DropPruned returns after without the lists, maps and structs that an apply has emptied by removing fields that the applier
// no longer applies, unless the apply configuration contains them. Kubernetes sets them to null, which Go decodes as absent.
// before is the object before the apply. The topology determines which list items match.
func (t *Type) DropPruned(before, after, config document.Value, topology *schema.Type) document.Value {
	if document.Same(before, after) || after.Kind() != before.Kind() {
		return after
	}
	if topology == nil {
		topology = schema.Untyped
	}
	switch {
	case after.Kind() == document.Map && t.Kind == Struct:
		return t.dropPrunedFields(before, after, config, topology.Map)
	case after.Kind() == document.List && t.Kind == List && topology.List != nil && topology.List.Relationship == schema.Keyed:
		return t.dropPrunedItems(before, after, config, topology.List)
	}
	return after
}

func (t *Type) dropPrunedFields(before, after, config document.Value, topology *schema.Map) document.Value {
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
		if rest := f.Type.DropPruned(was, is, sent, topologyOf(topology, name)); !document.Same(rest, is) {
			result = result.With(name, rest)
		}
	}
	return result
}

func (t *Type) dropPrunedItems(before, after, config document.Value, topology *schema.List) document.Value {
	var items []document.Value
	for i := range after.Len() {
		is := after.At(i)
		place := keyedIndex(topology.Keys, before, is, i)
		if place < 0 || document.Same(before.At(place), is) {
			continue
		}
		rest := t.Elem.DropPruned(before.At(place), is, configItem(topology.Keys, config, is), topology.Item)
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

// configItem returns the item of a list in an apply configuration that has the keys of item; an absent value if there is none.
// The configuration may omit keys that have defaults.
func configItem(keys []schema.Key, config, item document.Value) document.Value {
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
