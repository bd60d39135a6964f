package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// Short lists whose items are told apart by a string, and are all different, are most of what
// there is: containers, variables, ports with names. To look at their keys one by one costs less
// than to make identities of them. Like flat.go this is a shortcut: what is unusual takes the long way,
// which also says what is wrong with it.

// keys are those of a short list.
type keys struct {
	names [few]string
	count int
}

// read adds the keys of the items of a list. It reports false if the list is not one of those.
func (k *keys) read(key string, list document.Value) bool {
	switch {
	case list.Kind() != document.List:
		return true
	case list.Len() > few:
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
func (k *keys) add(name string, isText bool) bool {
	if !isText || k.find(name, k.count) >= 0 {
		return false
	}
	k.names[k.count] = name
	k.count++
	return true
}

// find returns the place of a key, or -1. It looks at the expected place first.
func (k *keys) find(name string, expected int) int {
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

// matchFew returns where the items of a short list of a patch are in a live one; -1 where they
// are not. It reports false if either is not such a list, or the patch has directives.
func (m *merger) matchFew(key string, live, patch document.Value, order *order) (places []int, ok bool) {
	if m.plain || key == "" || order != nil || patch.Len() > few {
		return nil, false
	}
	var there, wanted keys
	if !there.read(key, live) || !wanted.read(key, patch) {
		return nil, false
	}
	places = room(&m.places, patch.Len())
	expected := 0
	for i := range places {
		if mayHaveDirectives(patch.At(i)) {
			return nil, false
		}
		places[i] = there.find(wanted.names[i], expected)
		expected = places[i] + 1
	}
	return places, true
}

// mergeFew is mergeKeyed for lists that were matched.
func (m *merger) mergeFew(f *field, live, patch document.Value, places []int) (document.Value, error) {
	l := arrangement{m: m, live: live, done: m.flags(live.Len())}
	l.expect(len(places))
	for i, place := range places {
		var old document.Value
		if place >= 0 {
			old = live.At(place)
		}
		item := patch.At(i)
		result, err := m.mergeMap(f.typ, old, item)
		if err != nil {
			return document.Value{}, under(err, keyStep(f.key, item.Get(f.key)))
		}
		if place >= 0 {
			l.put(place, result)
		} else {
			l.putNew(result)
		}
	}
	return l.finish(), nil
}

// matchFew is readRows for short lists. It reports false if one of the versions is not such a list.
func (d *differ) matchFew(key string, v versions) (r rows, ok bool) {
	if d.plain || key == "" {
		return r, false
	}
	var original, current, modified keys
	if !current.read(key, v.current) || !modified.read(key, v.modified) {
		return r, false
	}
	r.now = d.find(&modified, &current)
	if v.twoWay() {
		r.before = r.now
		r.gone = d.lacking(r.before, &current, &current)
		return r, true
	}
	if !original.read(key, v.original) {
		return r, false
	}
	r.before = d.find(&modified, &original)
	r.gone = d.lacking(r.before, &original, &current)
	return r, true
}

// find returns where keys are among others.
func (d *differ) find(wanted, in *keys) []int {
	places := room(&d.places, wanted.count)
	expected := 0
	for i := range places {
		places[i] = in.find(wanted.names[i], expected)
		expected = places[i] + 1
	}
	return places
}

// lacking returns the places of keys that are in none of the given places, and are there.
func (d *differ) lacking(places []int, of, there *keys) []int {
	lacking := room(&d.places, of.count)[:0]
	for i, wanted := range d.wanted(places, of.count) {
		if !wanted && there.find(of.names[i], i) >= 0 {
			lacking = append(lacking, i)
		}
	}
	return lacking
}
