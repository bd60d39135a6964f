package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// Most lists with a merge key are short and have unique string keys: containers, environment variables, named ports.
// The fast path in this file compares the keys directly instead of computing identities. The general path handles lists
// that do not fulfil these conditions, and all errors.

// stringKeys are the values of the merge key in the items of a short list.
type stringKeys struct {
	names [maxLinear]string
	count int
}

// read adds the merge keys of a list's items. It returns false if the list is longer than maxLinear, or if a key is not
// a string or not unique.
func (k *stringKeys) read(key string, list document.Value) bool {
	switch {
	case list.Kind() != document.List:
		return true
	case list.Len() > maxLinear:
		return false
	}
	for i := range list.Len() {
		if !k.add(list.At(i).TextOf(key)) {
			return false
		}
	}
	return true
}

// add adds the merge key of one item. It returns false if the key is not a string or occurs twice.
func (k *stringKeys) add(name string, isText bool) bool {
	if !isText || k.find(name, k.count) >= 0 {
		return false
	}
	k.names[k.count] = name
	k.count++
	return true
}

// find returns the position of the key name, -1 if k does not contain it. It compares the key at the expected position
// first.
func (k *stringKeys) find(name string, expected int) int {
	if expected < k.count && k.names[expected] == name {
		return expected
	}
	for i := range k.count {
		if equalNames(k.names[i], name) {
			return i
		}
	}
	return -1
}

// equalNames reports whether two strings are equal. It compares their length and last byte first, because most names
// differ in them.
func equalNames(a, b string) bool {
	last := len(a) - 1
	return len(a) == len(b) && (last < 0 || a[last] == b[last] && a == b)
}

// matchShort returns, for each item of patch, its position in the list live, or -1 for a new item. ok is false if a
// list does not fulfil the conditions of the fast path, or if patch may contain directives.
func (m *merger) matchShort(key string, live, patch document.Value, order *order) (positions []int, ok bool) {
	if m.plain || key == "" || order != nil || patch.Len() > maxLinear {
		return nil, false
	}
	var liveKeys, patchKeys stringKeys
	if !liveKeys.read(key, live) || !patchKeys.read(key, patch) {
		return nil, false
	}
	positions = alloc(&m.positions, patch.Len())
	expected := 0
	for i := range positions {
		if mayHaveDirectives(patch.At(i)) {
			return nil, false
		}
		positions[i] = liveKeys.find(patchKeys.names[i], expected)
		expected = positions[i] + 1
	}
	return positions, true
}

// mergeShort implements mergeKeyed for lists that matchShort supports.
func (m *merger) mergeShort(f *field, live, patch document.Value, positions []int) (document.Value, error) {
	l := listBuilder{m: m, live: live, done: m.flags(live.Len())}
	l.reserve(len(positions))
	for i, position := range positions {
		var old document.Value
		if position >= 0 {
			old = live.At(position)
		}
		item := patch.At(i)
		result, err := m.mergeMap(f.typ, old, item)
		if err != nil {
			return document.Value{}, prefixPath(err, keyStep(f.key, item.Get(f.key)))
		}
		if position >= 0 {
			l.put(position, result)
		} else {
			l.putNew(result)
		}
	}
	return l.build(), nil
}

// matchShort implements matchItems for short lists. ok is false if one of the lists does not fulfil the conditions of
// the fast path.
func (d *differ) matchShort(key string, v versions) (r itemMatches, ok bool) {
	if d.plain || key == "" {
		return r, false
	}
	var original, current, modified stringKeys
	if !current.read(key, v.current) || !modified.read(key, v.modified) {
		return r, false
	}
	r.inCurrent = d.findKeys(&modified, &current)
	if v.isTwoWay() {
		r.inOriginal = r.inCurrent
		r.removed = d.unmatched(r.inOriginal, &current, &current)
		return r, true
	}
	if !original.read(key, v.original) {
		return r, false
	}
	r.inOriginal = d.findKeys(&modified, &original)
	r.removed = d.unmatched(r.inOriginal, &original, &current)
	return r, true
}

// findKeys returns, for each of the keys, its position in list, or -1 if list does not contain it.
func (d *differ) findKeys(keys, list *stringKeys) []int {
	positions := alloc(&d.positions, keys.count)
	expected := 0
	for i := range positions {
		positions[i] = list.find(keys.names[i], expected)
		expected = positions[i] + 1
	}
	return positions
}

// unmatched returns the positions in keys, except the given positions, of the keys that are also in current.
func (d *differ) unmatched(positions []int, keys, current *stringKeys) []int {
	unmatched := alloc(&d.positions, keys.count)[:0]
	for i, isMatched := range d.markPositions(positions, keys.count) {
		if !isMatched && current.find(keys.names[i], i) >= 0 {
			unmatched = append(unmatched, i)
		}
	}
	return unmatched
}
