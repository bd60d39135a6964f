package strategic

import (
	"github.com/cadastre/cadastre/document"
)

// Twins are items of a keyed list that have the same key, such as a port for TCP and for UDP.
// A patch can't tell them apart, so that none that is made changes one of them.

// twins returns why a keyed list can't be patched item by item, nil if it can.
func (r *rows) twins(key string, v versions) error {
	switch {
	case r.current.twin > 0:
		return r.current.ambiguous(key, v.current)
	case r.modified.twin > 0:
		return r.modified.ambiguous(key, v.modified)
	}
	return nil
}

func (s *identities) ambiguous(key string, list document.Value) error {
	first := s.find(s.all[s.twin])
	return ambiguous(key, "in the list", list.At(first), list.At(s.twin))
}

// diffTwins makes the patch of a keyed list that has twins. If all that is there is the
// author's, the list is replaced; otherwise that would remove what is somebody else's, and it
// is an error if there is anything to change.
func (d *differ) diffTwins(f *field, name string, v versions, r *rows, twins error) error {
	if v.twoWay() {
		if !document.Equal(v.current, v.modified) {
			d.build.Push(name, replacement(v.modified))
		}
		return nil
	}
	original, current := queue(&r.original), queue(&r.current)
	for i, id := range r.modified.all {
		part := versions{take(original, id, v.original), take(current, id, v.current), v.modified.At(i)}
		if part.current.IsAbsent() {
			return twins
		}
		if sub, err := d.diffMap(f.typ, f.retainKeys, part); err != nil || sub.Len() > 0 {
			return twins
		}
	}
	for id, left := range original {
		if len(left) > 0 && len(current[id]) > 0 {
			return twins // to be removed
		}
	}
	return nil
}

// queue returns the places of each identity, in order.
func queue(ids *identities) map[identity][]int {
	places := make(map[identity][]int, len(ids.all))
	for i, id := range ids.all {
		places[id] = append(places[id], i)
	}
	return places
}

// take takes the first item of an identity out of a queue; absent if there is none left.
func take(places map[identity][]int, id identity, list document.Value) document.Value {
	left := places[id]
	if len(left) == 0 {
		return document.Value{}
	}
	places[id] = left[1:]
	return list.At(left[0])
}

// replacement is a list of a patch that takes the place of a merged list as a whole.
func replacement(list document.Value) document.Value {
	items := make([]document.Value, 0, list.Len()+1)
	items = append(items, document.NewMap(document.Field{Name: patchDirective, Value: document.NewString("replace")}))
	for _, item := range list.Items() {
		items = append(items, item)
	}
	return document.NewList(items...)
}
