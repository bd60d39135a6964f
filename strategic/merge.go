package strategic

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Merge applies a strategic merge patch, which is a map, to an object, according to the patch strategies of its type. A
// patch that changes nothing returns the object itself. The result contains neither the directives nor the nulls of the
// patch. A null patch is treated as empty. Errors are of type [*Error].
func Merge(object, patch document.Value, t *Type) (document.Value, error) {
	m := newMerger()
	defer m.free()
	return m.merge(t, object, patch)
}

func (m *merger) merge(t *Type, object, patch document.Value) (document.Value, error) {
	if patch.IsNull() {
		return object, nil
	}
	if patch.Kind() != document.Map {
		return document.Value{}, malformed("a map", describe(patch), "")
	}
	return m.mergeMap(t, object, patch)
}

// mergeMap merges a map of a patch into a map of the object. An object value of another kind is treated as absent. The
// result is absent if the patch deletes an absent map.
func (m *merger) mergeMap(t *Type, object, patch document.Value) (document.Value, error) {
	if object.Kind() != document.Map {
		if isFreeOfDirectives(patch) {
			return patch, nil
		}
		object = document.Value{}
	} else if result, ok := m.mergeFlat(object, patch); ok {
		return result, nil
	}
	var d directives
	if err := d.readAll(patch); err != nil {
		return document.Value{}, err
	}
	switch {
	case d.action == deleteAction && object.IsAbsent():
		return document.Value{}, nil
	case d.action == deleteAction:
		return liveIfEqual(object, document.NewMap()), nil
	case d.action == replaceAction:
		result, err := m.mergeFields(t, document.Value{}, patch, &d)
		return liveIfEqual(object, result), err
	}
	return m.mergeFields(t, object, patch, &d)
}

// mergeFields implements mergeMap after the directives of the map were parsed. Consecutive fields that the patch does
// not affect are copied at once.
func (m *merger) mergeFields(t *Type, object, patch document.Value, d *directives) (document.Value, error) {
	mark := m.build.Mark()
	changed := object.IsAbsent()
	next := 0 // the index of the first field of the object that is not copied yet
	fields := fieldCursor{patch: patch, orders: d.orders, removes: d.removes}
	var current fieldPatch
	for {
		ok := fields.advance(&current)
		position, found := object.Len(), false
		if ok {
			position, found = findNext(object, next, current.name)
		}
		changed = m.copyRetained(object, next, position, &d.retain) || changed
		if !ok {
			return m.build.MapIf(changed, mark, object), nil
		}
		next = position
		var old, live document.Value
		if found {
			old = object.At(position)
			next++
		}
		if d.retain.retains(current.name) {
			live = old
		}
		value, err := m.mergeField(t, live, &current)
		if err != nil {
			return document.Value{}, err
		}
		changed = changed || !document.Same(old, value)
		m.build.Push(current.name, value)
	}
}

// findNext returns the index of the named field in object, like Value.Find. It first compares the field at index next,
// which is often the named field.
func findNext(object document.Value, next int, name string) (position int, found bool) {
	if next < object.Len() && object.Name(next) == name {
		return next, true
	}
	return object.Find(name)
}

// copyRetained copies the fields of the object with indexes from ≤ i < end, except those that $retainKeys removes.
// dropped reports whether it removed any field.
func (m *merger) copyRetained(object document.Value, from, end int, retain *retainedNames) (dropped bool) {
	if !retain.present {
		if from < end {
			m.build.PushAll(object, from, end)
		}
		return false
	}
	for i := from; i < end; i++ {
		name, value := object.Field(i)
		if retain.retains(name) {
			m.build.Push(name, value)
		} else {
			dropped = true
		}
	}
	return dropped
}

// mergeField returns the patched value of one field. Both the live value and the result may be absent.
// $deleteFromPrimitiveList is applied after items are added, so an item that is both added and deleted is not in the
// result.
func (m *merger) mergeField(typ *Type, live document.Value, t *fieldPatch) (document.Value, error) {
	if t.value.IsScalar() && t.order.IsAbsent() && t.remove.IsAbsent() {
		return liveIfEqual(live, t.value), nil
	}
	f := typ.field(t.name)
	order, err := m.readOrder(f.key, t.order)
	if err != nil {
		return document.Value{}, prefixField(err, orderDirective+"/"+t.name)
	}
	result, err := m.mergeValue(f, live, t.value, order)
	if err != nil {
		return document.Value{}, prefixField(err, t.name)
	}
	if t.remove.IsAbsent() || result.Kind() != document.List {
		return result, nil
	}
	if result, err = m.withoutScalars(result, t.remove); err != nil {
		return document.Value{}, prefixField(err, removeDirective+"/"+t.name)
	}
	return liveIfEqual(live, result), nil
}

// mergeValue returns the patched value of a field before $deleteFromPrimitiveList is applied.
func (m *merger) mergeValue(f *field, live, patch document.Value, order *order) (document.Value, error) {
	if order != nil {
		return m.mergeOrdered(f, live, patch, order)
	}
	switch patch.Kind() {
	case document.Absent:
		return live, nil
	case document.Null:
		return document.Value{}, nil
	case document.Map:
		if live.Kind() == document.Map && !f.replace {
			return m.mergeMap(f.typ, live, patch)
		}
		result, err := m.mergeMap(f.typ, document.Value{}, patch)
		return liveIfEqual(live, result), err
	case document.List:
		return m.mergeList(f, live, patch, nil)
	}
	return liveIfEqual(live, patch), nil
}

// liveIfEqual returns live if it equals value, and value if it does not. An unchanged value is therefore shared with
// the object and keeps its spelling.
func liveIfEqual(live, value document.Value) document.Value {
	if document.Equal(live, value) {
		return live
	}
	return value
}

// resolveNewList returns list without its directives and nulls. list is a list of a patch that is added to the object,
// or replaces a live list.
func (m *merger) resolveNewList(t *Type, list document.Value) (document.Value, error) {
	if isFreeOfDirectives(list) {
		return list, nil
	}
	mark := m.build.Mark()
	changed := false
	for i, item := range list.Items() {
		result, err := m.resolveNewItem(t, item)
		if err != nil {
			return document.Value{}, prefixIndex(err, i)
		}
		changed = changed || !document.Same(item, result)
		m.build.Push("", result)
	}
	return m.build.ListIf(changed, mark, list), nil
}

// resolveNewItem returns item, a list item of a patch, without its directives and nulls. The result is absent if item
// is only a directive, such as {$patch: replace}.
func (m *merger) resolveNewItem(t *Type, item document.Value) (document.Value, error) {
	switch item.Kind() {
	case document.List:
		return m.resolveNewList(nil, item)
	case document.Map:
		if action, err := itemAction(item); err != nil || action != mergeAction {
			return document.Value{}, err
		}
		return m.mergeMap(t, document.Value{}, item)
	}
	return item, nil
}

// itemAction returns the $patch directive of a list item, mergeAction if there is none.
func itemAction(item document.Value) (action, error) {
	directive := item.Get(patchDirective)
	if directive.IsAbsent() {
		return mergeAction, nil
	}
	action, err := readAction(directive)
	if err != nil {
		return action, prefixField(err, patchDirective)
	}
	return action, nil
}

// isFreeOfDirectives reports whether a value contains neither directives nor nulls. It searches the canonical JSON; if
// that is not available, it returns false.
func isFreeOfDirectives(v document.Value) bool {
	text, ok := v.CanonicalJSON()
	return ok && !strings.Contains(text, "null") && !strings.Contains(text, `"$`)
}

// isFreeOfNulls reports whether a value contains no nulls. It searches the canonical JSON; if that is not available, it
// returns false.
func isFreeOfNulls(v document.Value) bool {
	text, ok := v.CanonicalJSON()
	return ok && !strings.Contains(text, "null")
}
