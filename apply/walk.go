package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// walkConfig does in one walk over a configuration what validate, fieldsOf and
// merge do in three: the schema is looked up once for every field, and the path
// elements of list items are made once. It gives up, with done false, when it
// meets an unset marker.
func walkConfig(t *schema.Type, live, config document.Value, unset bool) (in intent, done bool, err error) {
	w := walker{validator: validator{path: make(fieldset.Path, 0, 16)}, unset: unset}
	merged, o := w.value(t, live, config)
	if w.marks {
		return intent{}, false, nil
	}
	if len(w.problems) > 0 {
		return intent{}, false, &InvalidError{Fields: w.problems}
	}
	return intent{config: config, merged: merged, fields: o.below.Difference(neverOwned)}, true, nil
}

type walker struct {
	validator
	merger
	sets  setBuilder
	unset bool
}

// value walks a value of the configuration and the live value in the same place,
// which may be absent.
func (w *walker) value(t *schema.Type, live, config document.Value) (merged document.Value, o owned) {
	if config.IsNull() {
		return w.merge(t, live, config), w.sets.own(t, config)
	}
	switch kind := config.Kind(); {
	case kind == document.Map && t.Map != nil:
		if w.unset && isMarked(config) {
			w.marks = true
			return config, owned{}
		}
		if !t.Map.Atomic {
			return w.fields(t.Map, live, config)
		}
		w.validator.fields(t.Map, config, w.unset)
	case kind == document.List && t.List != nil:
		if t.List.Relationship != schema.Atomic {
			return w.items(t.List, live, config)
		}
		w.validator.items(t.List, config, w.unset)
	default:
		w.validator.value(t, config, w.unset)
	}
	return keepEqual(live, config), owned{self: true}
}

// keepEqual returns the live value if the other is equal to it.
func keepEqual(live, config document.Value) document.Value {
	if document.Equal(live, config) {
		return live
	}
	return config
}

// fields walks a granular map.
func (w *walker) fields(m *schema.Map, live, config document.Value) (document.Value, owned) {
	hadNone := isEmpty(live, document.Map)
	if hadNone && config.Len() == 0 {
		return keepEqual(live, config), owned{}
	}
	liveFields := as(live, document.Map)
	docs, sets, at := w.docs.Mark(), w.sets.Mark(), len(w.path)
	changed := hadNone
	find := m.Cursor()
	i := 0
	for j := range config.Len() {
		name := config.Name(j)
		for i < liveFields.Len() && liveFields.Name(i) < name {
			w.docs.Push(liveFields.Name(i), liveFields.At(i))
			i++
		}
		var old document.Value
		if i < liveFields.Len() && liveFields.Name(i) == name {
			old = liveFields.At(i)
			i++
		}
		t, declared := find.Next(name)
		w.path = append(w.path, fieldset.NameElement(name))
		merged := w.field(t, declared, name, old, config.At(j))
		w.path = w.path[:at]
		changed = changed || merged != old
		if !hadNone {
			w.docs.Push(name, merged)
		}
	}
	below := w.sets.Set(sets)
	if hadNone {
		return config, owned{below: below}
	}
	if !changed {
		w.docs.Drop(docs)
		return live, owned{below: below}
	}
	for ; i < liveFields.Len(); i++ {
		w.docs.Push(liveFields.Name(i), liveFields.At(i))
	}
	return w.docs.Map(docs), owned{below: below}
}

// field walks one field of a map and records what is owned of it.
func (w *walker) field(t *schema.Type, declared bool, name string, old, value document.Value) document.Value {
	if t == nil {
		w.problem("the field is not declared in the schema; received %s", describe(value))
		return value
	}
	merged, o := w.value(t, old, value)
	member := o.self || !declared || value.IsNull() || isEmptyMap(value)
	w.sets.Push(fieldset.NameElement(name), member, o.below)
	return merged
}

// items walks a granular list.
func (w *walker) items(l *schema.List, live, config document.Value) (document.Value, owned) {
	items := w.granularItems(l, config)
	if items == nil { // empty, or with a problem
		return w.merge(&schema.Type{List: l}, live, config), owned{}
	}
	mark := w.sets.Mark()
	if isEmpty(live, document.List) {
		for j := range items {
			w.item(l, items[j], document.Value{}, config.At(j))
		}
		return config, owned{below: w.sets.Set(mark)}
	}
	z := zipper{merger: &w.merger, t: l, live: live, config: config, configItems: items}
	z.liveItems, _ = elements(l, live)
	z.mergeItem = func(j int, old, item document.Value) document.Value { return w.item(l, items[j], old, item) }
	merged := z.zip()
	return merged, owned{below: w.sets.Set(mark)}
}

// item walks one item of a granular list and records what is owned of it.
func (w *walker) item(l *schema.List, e fieldset.Element, old, item document.Value) document.Value {
	w.path = append(w.path, e)
	merged, o := w.value(l.Item, old, item)
	w.path = w.path[:len(w.path)-1]
	w.sets.Push(e, true, o.below)
	return merged
}
