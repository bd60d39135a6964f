package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// Duplicates are items of a list that have the same merge key, such as a port for TCP and the same port for UDP. A
// patch can't address one of several duplicates, so Diff never changes them individually.

// duplicateError returns an error that names the first duplicates in current or modified, nil if there are none.
func (m *itemMatches) duplicateError(key string, v versions) error {
	switch {
	case m.current.firstDuplicate > 0:
		return m.current.ambiguousKeyError(key, v.current)
	case m.modified.firstDuplicate > 0:
		return m.modified.ambiguousKeyError(key, v.modified)
	}
	return nil
}

// ambiguousKeyError returns the error for the first duplicate of a list.
func (s *identities) ambiguousKeyError(key string, list document.Value) error {
	first := s.find(s.all[s.firstDuplicate])
	return ambiguousKeyError(key, "in the list", list.At(first), list.At(s.firstDuplicate))
}

// diffDuplicates pushes the patch of a list with duplicates. A two-way patch replaces the list. A three-way patch that
// replaced the list would remove items of other writers, so diffDuplicates returns duplicateErr if a three-way patch
// would change the list.
func (d *differ) diffDuplicates(f *field, name string, v versions, r *itemMatches, duplicateErr error) error {
	if v.isTwoWay() {
		if !document.Equal(v.current, v.modified) {
			d.build.Push(name, replacementList(v.modified))
		}
		return nil
	}
	original, current := positionsByIdentity(&r.original), positionsByIdentity(&r.current)
	for i, id := range r.modified.all {
		part := versions{takeFirst(original, id, v.original), takeFirst(current, id, v.current), v.modified.At(i)}
		if part.current.IsAbsent() {
			return duplicateErr
		}
		if sub, err := d.diffMap(f.typ, f.retainKeys, part); err != nil || sub.Len() > 0 {
			return duplicateErr
		}
	}
	for id, remaining := range original {
		if len(remaining) > 0 && len(current[id]) > 0 {
			return duplicateErr // the patch would have to remove one of several duplicates
		}
	}
	return nil
}

// positionsByIdentity returns a map from each identity to its positions in the list, in ascending order.
func positionsByIdentity(ids *identities) map[identity][]int {
	positions := make(map[identity][]int, len(ids.all))
	for i, id := range ids.all {
		positions[id] = append(positions[id], i)
	}
	return positions
}

// takeFirst removes the first of the positions of id, and returns the item of list at that position. It returns an
// absent value if no position of id remains.
func takeFirst(positions map[identity][]int, id identity, list document.Value) document.Value {
	remaining := positions[id]
	if len(remaining) == 0 {
		return document.Value{}
	}
	positions[id] = remaining[1:]
	return list.At(remaining[0])
}

// replacementList returns list with an additional first item {$patch: replace}, which makes Merge replace the live
// list.
func replacementList(list document.Value) document.Value {
	items := make([]document.Value, 0, list.Len()+1)
	items = append(items, document.NewMap(document.Field{Name: patchDirective, Value: document.NewString("replace")}))
	for _, item := range list.Items() {
		items = append(items, item)
	}
	return document.NewList(items...)
}
