package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// mergeList merges the list of a patch into a live list. If the list does not have the patch strategy merge, or there
// is no live list, the list of the patch replaces it.
func (m *merger) mergeList(f *field, live, patch document.Value, order *order) (document.Value, error) {
	if live.Kind() != document.List || !f.merge {
		if err := order.checkList(f.key, patch); err != nil {
			return document.Value{}, err
		}
		result, err := m.resolveNewList(f.typ, patch)
		return liveIfEqual(live, result), err
	}
	if live.Len() == 0 && patch.Len() == 0 {
		return live, nil
	}
	if positions, ok := m.matchShort(f.key, live, patch, order); ok {
		return m.mergeShort(f, live, patch, positions)
	}
	kind, err := itemKind(live, patch)
	switch {
	case err != nil:
		return document.Value{}, err
	case kind == document.Map && f.key == "":
		return document.Value{}, malformed("strings, numbers or booleans as items", "maps",
			"the list has no merge key to identify maps")
	case f.key != "":
		return m.mergeKeyed(f, live, patch, order)
	}
	return m.mergeScalars(live, patch, order)
}

// itemKind returns the kind that all items of the lists have. At least one list must not be empty. It returns an
// error if the kinds differ, or if an item is a list or null.
func itemKind(lists ...document.Value) (document.Kind, error) {
	kind := document.Absent
	for _, list := range lists {
		for i, item := range list.Items() {
			switch found := item.Kind(); {
			case found == document.List:
				return kind, prefixIndex(unprocessable("a map or a scalar", "a list", "lists of lists can't be merged"), i)
			case found == document.Null:
				return kind, prefixIndex(malformed("a map or a scalar", "null", ""), i)
			case kind == document.Absent:
				kind = found
			case kind != found:
				return kind, prefixIndex(malformed("a "+kind.String()+" like the other items", describe(item), ""), i)
			}
		}
	}
	return kind, nil
}

// mergeOrdered implements mergeValue for a list with a $setElementOrder directive; patch may be absent.
func (m *merger) mergeOrdered(f *field, live, patch document.Value, order *order) (document.Value, error) {
	if k := patch.Kind(); k != document.Absent && k != document.List {
		return document.Value{}, malformed("a list, because of "+orderDirective, describe(patch), "")
	}
	if live.IsNull() {
		live = document.Value{}
	}
	if k := live.Kind(); k != document.Absent && k != document.List {
		return document.Value{}, unprocessable("a list in the object, because of "+orderDirective, describe(live), "")
	}
	if len(order.ids.all) == 0 {
		order = nil
	}
	switch {
	case !patch.IsAbsent():
		return m.mergeList(f, live, patch, order)
	case live.Len() == 0 || order == nil:
		return live, nil
	case f.key != "":
		return m.mergeKeyed(f, live, patch, order)
	}
	return m.mergeScalars(live, patch, order)
}

// mergeScalars merges the list of scalars patch into the list live, as sets. If order is nil, the items of patch
// determine the order of the result.
func (m *merger) mergeScalars(live, patch document.Value, order *order) (document.Value, error) {
	l, err := newListBuilder(m, "", live)
	if err != nil {
		return document.Value{}, err
	}
	added := m.identities(patch.Len())
	for i, item := range patch.Items() {
		id, err := identifyItem("", item)
		if err != nil {
			return document.Value{}, prefixIndex(err, i)
		}
		added.add(id)
	}
	if err := order.check(added.all); err != nil {
		return document.Value{}, err
	}
	l.reserve(len(order.orElse(&added).all))
	for id := range order.orElse(&added).unique() {
		if position := l.find(id); position >= 0 {
			l.putWithDuplicates(position)
		} else if i := added.find(id); i >= 0 {
			l.putNew(patch.At(i))
		}
	}
	return l.build(), nil
}

// withoutScalars returns a list of scalars without the items of remove, the value of $deleteFromPrimitiveList.
func (m *merger) withoutScalars(list, remove document.Value) (document.Value, error) {
	removed := m.identities(remove.Len())
	for i, item := range remove.Items() {
		id, err := identifyItem("", item)
		if err != nil {
			return list, prefixIndex(err, i)
		}
		removed.add(id)
	}
	mark := m.build.Mark()
	for i, item := range list.Items() {
		id, err := identifyItem("", item)
		if err != nil {
			return list, unprocessable("a list of strings, numbers or booleans", "one whose item "+indexStep(i)+" is "+describe(item),
				"remove items of a list of maps with $patch: delete")
		}
		if removed.find(id) < 0 {
			m.build.Push("", item)
		}
	}
	return m.build.ListIf(m.build.Pushed(mark) < list.Len(), mark, list), nil
}
