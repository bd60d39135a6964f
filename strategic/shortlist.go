package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// Short lists whose items are told apart by a string, and are all different, are most of what
// there is: containers, variables, ports with names. To look at their keys one by one costs less
// than to make identities of them. Like flat.go this is a shortcut: what is unusual takes the long way,
// which also says what is wrong with it.

// stringKeys are those of a short list.
type stringKeys struct {
	names [maxLinear]string
	count int
}

// read adds the keys of the items of a list. It reports false if the list is not one of those.
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

// add adds a key. It reports false if it is none, or there already.
func (k *stringKeys) add(name string, isText bool) bool {
	if !isText || k.find(name, k.count) >= 0 {
		return false
	}
	k.names[k.count] = name
	k.count++
	return true
}

// find returns the place of a key, or -1. It looks at the expected place first.
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

// equalNames compares names, most of which differ in their length or at their end.
func equalNames(a, b string) bool {
	last := len(a) - 1
	return len(a) == len(b) && (last < 0 || a[last] == b[last] && a == b)
}

// matchShort returns where the items of a short list of a patch are in a live one; -1 where they
// are not. It reports false if either is not such a list, or the patch has directives.
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

// mergeShort is mergeKeyed for lists that were matched.
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
			return document.Value{}, under(err, keyStep(f.key, item.Get(f.key)))
		}
		if position >= 0 {
			l.put(position, result)
		} else {
			l.putNew(result)
		}
	}
	return l.build(), nil
}

// matchShort is readRows for short lists. It reports false if one of the versions is not such a list.
func (d *differ) matchShort(key string, v versions) (r itemMatches, ok bool) {
	if d.plain || key == "" {
		return r, false
	}
	var original, current, modified stringKeys
	if !current.read(key, v.current) || !modified.read(key, v.modified) {
		return r, false
	}
	r.inCurrent = d.findKeys(&modified, &current)
	if v.twoWay() {
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

// findKeys returns where keys are among others.
func (d *differ) findKeys(keys, in *stringKeys) []int {
	positions := alloc(&d.positions, keys.count)
	expected := 0
	for i := range positions {
		positions[i] = in.find(keys.names[i], expected)
		expected = positions[i] + 1
	}
	return positions
}

// unmatched returns the places of keys that are in none of the given places, and are there.
func (d *differ) unmatched(positions []int, keys, current *stringKeys) []int {
	unmatched := alloc(&d.positions, keys.count)[:0]
	for i, isMatched := range d.markPositions(positions, keys.count) {
		if !isMatched && current.find(keys.names[i], i) >= 0 {
			unmatched = append(unmatched, i)
		}
	}
	return unmatched
}
