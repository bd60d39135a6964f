package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// MergeJSON applies patch, a JSON merge patch (RFC 7396), to object. The patch must be a map. As in Kubernetes, it also
// removes nulls from maps inside of a list that is added or replaced. A patch that changes nothing returns the object
// itself. Errors are of type [*Error].
func MergeJSON(object, patch document.Value) (document.Value, error) {
	if patch.Kind() != document.Map {
		return document.Value{}, malformed("a map", describe(patch), "")
	}
	m := newMerger()
	defer m.free()
	return m.mergeJSON(object, patch), nil
}

// mergeJSON returns live with patch applied. live may be absent; patch must not be null.
func (m *merger) mergeJSON(live, patch document.Value) document.Value {
	switch {
	case live.Kind() == document.Map && patch.Kind() == document.Map:
		return m.mergeJSONFields(live, patch)
	case live.Kind() == document.Map:
		return patch // as in Kubernetes, nulls are not removed from a value that replaces a map
	}
	return liveIfEqual(live, m.withoutNulls(patch))
}

// mergeJSONFields merges the map patch into the map object, field by field.
func (m *merger) mergeJSONFields(object, patch document.Value) document.Value {
	mark := m.build.Mark()
	changed := false
	next := 0 // the index of the first field of the object that is not copied yet
	for name, value := range patch.Fields() {
		position, found := object.Find(name)
		if next < position {
			m.build.PushAll(object, next, position)
		}
		next = position
		var live, result document.Value
		if found {
			live = object.At(position)
			next++
		}
		if !value.IsNull() {
			result = m.mergeJSON(live, value)
		}
		changed = changed || !document.Same(live, result)
		m.build.Push(name, result)
	}
	if next < object.Len() {
		m.build.PushAll(object, next, object.Len())
	}
	return m.build.MapIf(changed, mark, object)
}

// withoutNulls returns a value without the map fields that are null. Null list items are kept.
func (m *merger) withoutNulls(v document.Value) document.Value {
	if v.Kind() != document.Map && v.Kind() != document.List || isFreeOfNulls(v) {
		return v
	}
	mark := m.build.Mark()
	changed := false
	named := v.Kind() == document.Map
	for i := range v.Len() {
		name, value := "", v.At(i)
		if named {
			name = v.Name(i)
		}
		if named && value.IsNull() {
			changed = true
			continue
		}
		result := m.withoutNulls(value)
		changed = changed || !document.Same(value, result)
		m.build.Push(name, result)
	}
	if named {
		return m.build.MapIf(changed, mark, v)
	}
	return m.build.ListIf(changed, mark, v)
}
