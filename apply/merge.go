package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// merger merges configurations into live documents. What a configuration does not
// touch, or sets to the value that it has already, is shared with the live
// document; document.Same recognises it.
type merger struct{ docs document.Builder }

// merge returns live with everything that config sets. Nothing is removed. Either
// may be absent, but not both.
func (m *merger) merge(t *schema.Type, live, config document.Value) document.Value {
	switch {
	case config.IsAbsent():
		return live
	case live.IsAbsent():
		return config
	}
	if t == nil {
		t = schema.Untyped
	}
	switch t.Resolve(config.Kind()) {
	case schema.MapAlternative:
		if !t.Map.Atomic && !(isEmpty(live, document.Map) && isEmpty(config, document.Map)) {
			return m.mergeMaps(t.Map, as(live, document.Map), as(config, document.Map))
		}
	case schema.ListAlternative:
		if t.List.Relationship != schema.Atomic && !(isEmpty(live, document.List) && isEmpty(config, document.List)) {
			return m.mergeLists(t.List, as(live, document.List), as(config, document.List))
		}
	}
	if document.Equal(live, config) {
		return live
	}
	return config
}

// isEmpty reports whether a value has no fields or items of the given kind of
// container: it is empty, null, or something else altogether.
func isEmpty(v document.Value, container document.Kind) bool {
	return v.Kind() != container || v.Len() == 0
}

// as returns the value if it is of the given kind, and absence otherwise.
func as(v document.Value, kind document.Kind) document.Value {
	if v.Kind() != kind {
		return document.Value{}
	}
	return v
}

func (m *merger) mergeMaps(t *schema.Map, live, config document.Value) document.Value {
	switch {
	case config.IsAbsent():
		return live
	case live.IsAbsent():
		return config
	}
	mark := m.docs.Mark()
	changed := false
	for i, j := 0, 0; i < live.Len() || j < config.Len(); {
		switch side := compareNames(live, i, config, j); {
		case side < 0:
			m.docs.Push(live.Name(i), live.At(i))
			i++
		case side > 0:
			m.docs.Push(config.Name(j), config.At(j))
			changed = true
			j++
		default:
			child, _ := t.TypeOf(live.Name(i))
			merged := m.merge(child, live.At(i), config.At(j))
			changed = changed || merged != live.At(i)
			m.docs.Push(live.Name(i), merged)
			i++
			j++
		}
	}
	return m.docs.MapIf(changed, mark, live)
}

// compareNames compares the next names of two maps; a map that is at its end comes
// last.
func compareNames(a document.Value, i int, b document.Value, j int) int {
	switch {
	case i == a.Len():
		return 1
	case j == b.Len():
		return -1
	case a.Name(i) == b.Name(j):
		return 0
	case a.Name(i) < b.Name(j):
		return -1
	}
	return 1
}

// mergeLists merges item by item. The items of config come in its order. Items
// that only live has keep their place before the item that they stood before,
// as far as that agrees with the order of config.
func (m *merger) mergeLists(t *schema.List, live, config document.Value) document.Value {
	if config.Len() == 0 {
		return live
	}
	if live.Len() == 0 {
		return config
	}
	z := zipper{docs: &m.docs, live: live, config: config, matching: matchElements(t, live, config)}
	z.mergeItem = func(_ int, old, item document.Value) document.Value { return m.merge(t.Item, old, item) }
	return z.zip()
}
