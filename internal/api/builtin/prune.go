package builtin

import (
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// DropEmptied returns a patched object without the lists and maps that the patch has emptied or created empty, because
// encoding Go structs omits them; fields without omitempty become null. live is the object before the patch. Lists and maps
// that are empty in the live object or in the patch itself are retained.
func (t *Type) DropEmptied(live, patched, patch document.Value) document.Value {
	if t.Elem != nil && patched.Kind() == document.List {
		if HasEmptyContainer(patch) {
			return patched // the patch contains an empty list or map, which cannot be matched with an item of the patched list
		}
		return t.dropEmptiedInItems(live, patched)
	}
	if patched.Kind() != document.Map || document.Equal(live, patched) {
		return patched
	}
	result := patched
	for i := range patched.Len() {
		name, old, current := patched.Name(i), live.Get(patched.Name(i)), patched.At(i)
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
		rest := part.DropEmptied(old, current, sent)
		emptied := part.Elem != nil && rest.Len() == 0 && (old.IsAbsent() || old.Len() > 0 && !t.isCheckedEmpty(name))
		switch {
		case emptied && !always:
			result = result.Without(name)
		case emptied && t.Kind == Struct:
			result = result.With(name, document.NewNull())
		case rest != current:
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

// isCheckedEmpty reports whether DropEmptied must retain the field name of the type as an empty map. This applies to
// resources.requests of PersistentVolumeClaims: both an absent and an empty field are rejected, but with different errors.
func (t *Type) isCheckedEmpty(name string) bool {
	return name == "requests" && t.Name == "io.k8s.api.core.v1.VolumeResourceRequirements"
}

// dropEmptiedInItems returns the list patched with DropEmptied applied to each item. Items of live and of patched are matched
// by index.
func (t *Type) dropEmptiedInItems(live, patched document.Value) document.Value {
	if document.Equal(live, patched) {
		return patched
	}
	items, changed := make([]document.Value, patched.Len()), false
	for i := range items {
		var old document.Value
		if live.Kind() == document.List && i < live.Len() {
			old = live.At(i)
		}
		items[i] = t.Elem.DropEmptied(old, patched.At(i), document.Value{})
		changed = changed || items[i] != patched.At(i)
	}
	if !changed {
		return patched
	}
	return document.NewList(items...)
}

// DropPruned returns a merged object without the lists, maps and structs that an apply has emptied by removing fields that the
// applier no longer applies, unless the apply configuration contains them. Kubernetes sets them to null, which Go decodes as
// absent. live is the object before the apply. The topology determines which list items match.
func (t *Type) DropPruned(live, merged, config document.Value, topology *schema.Type) document.Value {
	if document.Same(live, merged) || merged.Kind() != live.Kind() {
		return merged
	}
	if topology == nil {
		topology = schema.Untyped
	}
	switch {
	case merged.Kind() == document.Map && t.Kind == Struct:
		return t.dropPrunedFields(live, merged, config, topology.Map)
	case merged.Kind() == document.List && t.Kind == List && topology.List != nil && topology.List.Relationship == schema.Keyed:
		return t.dropPrunedItems(live, merged, config, topology.List)
	}
	return merged
}

func (t *Type) dropPrunedFields(live, merged, config document.Value, topology *schema.Map) document.Value {
	result := merged
	for i := range merged.Len() {
		name, current := merged.Field(i)
		f, known := t.Field(name)
		old, sent := live.Get(name), config.Get(name)
		if !known || document.Same(old, current) {
			continue
		}
		if !current.IsScalar() && current.Len() == 0 && old.Len() > 0 && sent.IsAbsent() {
			result = result.Without(name)
			continue
		}
		if rest := f.Type.DropPruned(old, current, sent, topologyOf(topology, name)); !document.Same(rest, current) {
			result = result.With(name, rest)
		}
	}
	return result
}

func (t *Type) dropPrunedItems(live, merged, config document.Value, topology *schema.List) document.Value {
	var items []document.Value
	lives, sent := keyedItems{keys: topology.Keys, list: live}, keyedItems{keys: topology.Keys, list: config}
	for i := range merged.Len() {
		current := merged.At(i)
		place := lives.find(current, i)
		if place < 0 || document.Same(live.At(place), current) {
			continue
		}
		rest := t.Elem.DropPruned(live.At(place), current, sent.item(current, i), topology.Item)
		if document.Same(rest, current) {
			continue
		}
		if items == nil {
			items = make([]document.Value, merged.Len())
			for j := range items {
				items[j] = merged.At(j)
			}
		}
		items[i] = rest
	}
	if items == nil {
		return merged
	}
	return document.NewList(items...)
}
