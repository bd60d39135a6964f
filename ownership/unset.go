package ownership

import (
	"fmt"
	"slices"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// UnsetExtension is the OpenAPI extension by which a server declares that it supports unset markers.
const UnsetExtension = "x-cadastre-unset"

// unsetMarker is the map {k8s_io__value: unset}.
var unsetMarker = document.NewMap(document.Field{Name: apply.UnsetMarkerKey, Value: document.NewString(apply.UnsetMarkerValue)})

// HasUnsetMarker reports whether a configuration contains an unset marker.
func HasUnsetMarker(config document.Value) bool {
	if config.Kind() == document.Map && config.Get(apply.UnsetMarkerKey).Text() == apply.UnsetMarkerValue {
		return true
	}
	for i := range config.Len() {
		if HasUnsetMarker(config.At(i)) {
			return true
		}
	}
	return false
}

// CheckKeys returns a [*PathError] if the expression selects a list item but omits a key for which the schema has no
// default. The schema may be nil; fields without a schema are not checked.
func (p PathExpression) CheckKeys(t *schema.Type) error {
	start := 0
	for _, s := range p.steps {
		switch {
		case t != nil && s.kind == keysStep && t.List != nil:
			for _, key := range t.List.Keys {
				if key.Default.IsAbsent() && !slices.ContainsFunc(s.keys, func(k keyExpression) bool { return k.name == key.Name }) {
					return &PathError{Path: p.text, At: start, Problem: fmt.Sprintf("expected all keys of the list item, received none for %s; add ,%s=VALUE", key.Name, key.Name)}
				}
			}
			t = t.List.Item
		case t != nil && (s.kind == nameStep || s.kind == quotedStep) && t.Map != nil:
			t, _ = t.Map.TypeOf(s.name)
		default:
			return nil
		}
		start = s.end
	}
	return nil
}

// Unset returns the configuration with an unset marker at the path of the expression. The expression must select list items
// by all their keys; items that are missing in the configuration are added. Errors are of type [*PathError].
func (p PathExpression) Unset(config document.Value) (document.Value, error) {
	out, problem, at := p.unsetIn(config, 0)
	if problem != "" {
		return config, &PathError{Path: p.text, At: at, Problem: problem}
	}
	return out, nil
}

// unsetIn returns v with the marker at the path that consists of p.steps[i:]. problem describes why that is not possible; it
// is empty on success. at is the byte offset of the problem in the expression.
func (p PathExpression) unsetIn(v document.Value, i int) (out document.Value, problem string, at int) {
	if i == len(p.steps) {
		if !v.IsAbsent() && !document.Equal(v, unsetMarker) {
			return v, fmt.Sprintf("expected no value in the configuration, received %s; remove it to unset the field", describe(v)), 0
		}
		return unsetMarker, "", 0
	}
	s, end := p.steps[i], 0
	if i > 0 {
		end = p.steps[i-1].end
	}
	switch {
	case s.kind == keysStep && (v.IsAbsent() || v.Kind() == document.List):
		return p.unsetItem(v, i)
	case s.kind != nameStep && s.kind != quotedStep:
		return v, "expected a field, or a list item by its keys, such as [name=app]", end
	case !v.IsAbsent() && v.Kind() != document.Map:
		return v, fmt.Sprintf("expected a map with the field %s in the configuration, received %s", s.name, describe(v)), end
	}
	field, problem, at := p.unsetIn(v.Get(s.name), i+1)
	if problem != "" {
		return v, problem, at
	}
	return v.With(s.name, field), "", 0
}

// unsetItem returns list with the marker in the item that step i selects: at the path of the steps after i or, if step i is
// the last one, in the item itself beside its keys. It adds the item if it is missing.
func (p PathExpression) unsetItem(list document.Value, i int) (out document.Value, problem string, at int) {
	keys := p.steps[i].keys
	items := make([]document.Value, 0, list.Len()+1)
	index := -1
	for j, item := range list.Items() {
		if matchesKeys(item, keys) {
			index = j
		}
		items = append(items, item)
	}
	if index < 0 {
		index = len(items)
		item := document.NewMap()
		for _, key := range keys {
			item = item.With(key.name, key.values()[0])
		}
		items = append(items, item)
	}
	if i+1 < len(p.steps) {
		items[index], problem, at = p.unsetIn(items[index], i+1)
		return document.NewList(items...), problem, at
	}
	if items[index].Len() > len(keys) && items[index].Get(apply.UnsetMarkerKey).IsAbsent() {
		return list, fmt.Sprintf("expected no value in the configuration, received %s; remove it to unset the item", describe(items[index])), 0
	}
	items[index] = items[index].With(apply.UnsetMarkerKey, document.NewString(apply.UnsetMarkerValue))
	return document.NewList(items...), "", 0
}

// matchesKeys reports whether a list item has all the given keys, each with one of the values that the key may denote.
func matchesKeys(item document.Value, keys []keyExpression) bool {
	for _, key := range keys {
		found := false
		for _, v := range key.values() {
			found = found || document.Equal(item.Get(key.name), v)
		}
		if !found {
			return false
		}
	}
	return true
}
