package strategic

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Merge applies a strategic merge patch to an object according to the patch strategies of a type; both are maps. A
// patch that changes nothing returns the object itself. The result has neither directives nor nulls of the patch. A
// null patch is empty. Errors are of type [*Error].
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

// mergeMap merges a map of a patch into a map of the object. A value of another kind is treated as absent. It returns
// an absent value if the patch deletes an absent map.
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

// mergeFields is mergeMap after its directives were parsed. Runs of fields that the patch does not affect are copied.
func (m *merger) mergeFields(t *Type, object, patch document.Value, d *directives) (document.Value, error) {
	mark := m.build.Mark()
	changed := object.IsAbsent()
	next := 0 // index of the next field of the object
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

// findNext is Find for a field that is not before the index next, and often at it.
func findNext(object document.Value, next int, name string) (position int, found bool) {
	if next < object.Len() && object.Name(next) == name {
		return next, true
	}
	return object.Find(name)
}

// copyRetained copies the fields of the object from one index up to another, except those that are not retained. It
// reports whether it dropped any.
func (m *merger) copyRetained(object document.Value, from, end int, retain *keySet) (dropped bool) {
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

// mergeField returns the patched value of one field, which may be absent before and after. $deleteFromPrimitiveList
// is applied after items are added, so that an item that is both added and deleted is not in the result.
func (m *merger) mergeField(typ *Type, live document.Value, t *fieldPatch) (document.Value, error) {
	if t.value.IsScalar() && t.order.IsAbsent() && t.remove.IsAbsent() {
		return liveIfEqual(live, t.value), nil
	}
	f := typ.field(t.name)
	order, err := m.readOrder(f.key, t.order)
	if err != nil {
		return document.Value{}, underField(err, orderDirective+"/"+t.name)
	}
	result, err := m.mergeValue(f, live, t.value, order)
	if err != nil {
		return document.Value{}, underField(err, t.name)
	}
	if t.remove.IsAbsent() || result.Kind() != document.List {
		return result, nil
	}
	if result, err = m.withoutScalars(result, t.remove); err != nil {
		return document.Value{}, underField(err, removeDirective+"/"+t.name)
	}
	return liveIfEqual(live, result), nil
}

// mergeValue returns the patched value of a field, without $deleteFromPrimitiveList.
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

// liveIfEqual returns the live value if both values are equal, so that an unchanged value is identical and keeps its
// spelling.
func liveIfEqual(live, value document.Value) document.Value {
	if document.Equal(live, value) {
		return live
	}
	return value
}

// resolveNewList returns a list of a patch without directives and nulls, for a list that is added or replaced.
func (m *merger) resolveNewList(t *Type, list document.Value) (document.Value, error) {
	if isFreeOfDirectives(list) {
		return list, nil
	}
	mark := m.build.Mark()
	changed := false
	for i, item := range list.Items() {
		result, err := m.resolveNewItem(t, item)
		if err != nil {
			return document.Value{}, underIndex(err, i)
		}
		changed = changed || !document.Same(item, result)
		m.build.Push("", result)
	}
	return m.build.ListIf(changed, mark, list), nil
}

// resolveNewItem returns an item of a patch without directives and nulls, absent if the item is only a directive.
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

// itemAction returns the directive $patch of a list item.
func itemAction(item document.Value) (action, error) {
	directive := item.Get(patchDirective)
	if directive.IsAbsent() {
		return mergeAction, nil
	}
	action, err := readAction(directive)
	if err != nil {
		return action, underField(err, patchDirective)
	}
	return action, nil
}

// isFreeOfDirectives reports whether a value certainly has neither directives nor nulls. It searches the canonical
// JSON, and returns false if that is not available.
func isFreeOfDirectives(v document.Value) bool {
	text, ok := v.CanonicalJSON()
	return ok && !strings.Contains(text, "null") && !strings.Contains(text, `"$`)
}

// isFreeOfNulls reports whether a value certainly has no nulls.
func isFreeOfNulls(v document.Value) bool {
	text, ok := v.CanonicalJSON()
	return ok && !strings.Contains(text, "null")
}
