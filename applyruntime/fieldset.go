package applyruntime

import (
	"encoding/json"
	"maps"
	"reflect"
	"slices"
	"strings"
)

// extractor returns the part of an object that a field set contains. A field set is decoded FieldsV1: a map whose keys
// are path elements (f:NAME, k:KEYS, v:VALUE, i:INDEX), or "." if the value itself is owned.
type extractor struct{}

// absent is the result of extracting a value of which nothing is owned. It differs from nil, which is JSON null.
type absent struct{}

// value returns the owned part of a value of type t, which is nil for a value without a type. below contains the owned
// fields in the value; if it is empty, the value itself is owned.
func (x extractor) value(t reflect.Type, top topology, v any, present bool, below map[string]any) any {
	_, self := below["."]
	leaf := len(below) == 0 || len(below) == 1 && self
	if !present && leaf {
		return map[string]any{MarkerKey: MarkerValue}
	}
	if top.atomic || isAtomic(t) {
		return v
	}
	content, isMap := v.(map[string]any)
	list, isList := v.([]any)
	var extracted any
	var empty bool
	switch {
	case isMap || !present && hasNames(below):
		fields := x.named(t, content, below)
		extracted, empty = fields, len(fields) == 0
	case isList && t == nil && !leaf || isList && (top.set || len(top.keys) > 0) || !present:
		items := x.items(t, top, list, below)
		extracted, empty = items, len(items) == 0
	case leaf:
		return v
	default:
		return absent{} // a scalar or an atomic value has no fields to extract
	}
	if empty && (!present || !leaf) {
		return absent{}
	}
	return extracted
}

// hasNames reports whether a field set contains field names.
func hasNames(set map[string]any) bool {
	for name := range set {
		if strings.HasPrefix(name, "f:") {
			return true
		}
	}
	return false
}

// named returns the owned fields of a struct or the owned entries of a map.
func (x extractor) named(t reflect.Type, content, set map[string]any) map[string]any {
	if t == nil {
		return x.fields(nil, content, set)
	}
	t = indirect(t)
	if t.Kind() != reflect.Map {
		return x.fields(infoOf(t), content, set)
	}
	return x.each(content, set, func(string) (reflect.Type, topology, bool) { return t.Elem(), topology{}, true })
}

// fields returns the owned fields of a struct, or of a map without a schema if info is nil.
func (x extractor) fields(info *structInfo, content, set map[string]any) map[string]any {
	return x.each(content, set, func(name string) (reflect.Type, topology, bool) {
		if info == nil {
			return nil, topology{}, true
		}
		i, known := info.byName[name]
		if !known {
			return nil, topology{}, false
		}
		f := info.fields[i]
		return f.typ, f.topology, true
	})
}

func (x extractor) each(content, set map[string]any, typeOf func(string) (reflect.Type, topology, bool)) map[string]any {
	fields := map[string]any{}
	for element, child := range set {
		name, isField := strings.CutPrefix(element, "f:")
		if !isField {
			continue
		}
		t, top, known := typeOf(name)
		if !known {
			continue
		}
		below, _ := child.(map[string]any)
		v, present := content[name]
		if extracted := x.value(t, top, v, present, below); extracted != any(absent{}) {
			fields[name] = extracted
		}
	}
	return fields
}

// items returns the owned items of a list in the order of the list, followed by markers for the owned items that are
// absent. A list without a schema is matched by the keys and values in the set.
func (x extractor) items(t reflect.Type, top topology, list []any, set map[string]any) []any {
	var element reflect.Type
	if t != nil && indirect(t).Kind() == reflect.Slice {
		element = indirect(indirect(t).Elem())
	}
	spelled := map[string]string{} // the names in the set by their canonical spelling
	for name := range set {
		spelled[canonicalElement(name)] = name
	}
	extracted := []any{}
	found := map[string]bool{}
	for _, item := range list {
		name := spelled[elementOf(top, item)]
		below, owned := set[name].(map[string]any)
		if !owned {
			continue
		}
		found[name] = true
		extracted = append(extracted, x.item(element, top, item, below))
	}
	for _, name := range slices.Sorted(maps.Keys(set)) {
		below, _ := set[name].(map[string]any)
		_, self := below["."]
		keys, isKey := strings.CutPrefix(name, "k:")
		if found[name] || !isKey || !self && len(below) > 0 {
			continue
		}
		if decoded, err := decode([]byte(keys)); err == nil {
			if marker, ok := decoded.(map[string]any); ok {
				marker[MarkerKey] = MarkerValue
				extracted = append(extracted, marker)
			}
		}
	}
	return extracted
}

// item returns the owned fields and the keys of a list item. Keys that equal their default are omitted unless they are
// owned.
func (x extractor) item(t reflect.Type, top topology, item any, below map[string]any) any {
	content, isMap := item.(map[string]any)
	if !isMap || len(top.keys) == 0 || isAtomic(t) {
		return item
	}
	extracted := x.named(t, content, below)
	for _, k := range top.keys {
		value, ok := content[k.name]
		if isDefault := k.defaultValue != nil && canonical(value) == canonical(k.defaultValue); ok && !isDefault {
			extracted[k.name] = value
		}
	}
	return extracted
}

// elementOf returns the path element of a list item.
func elementOf(top topology, item any) string {
	content, isMap := item.(map[string]any)
	if !isMap || len(top.keys) == 0 {
		return "v:" + canonical(item)
	}
	keys := map[string]any{}
	for _, k := range top.keys {
		if value, ok := content[k.name]; ok {
			keys[k.name] = value
		} else if k.defaultValue != nil {
			keys[k.name] = k.defaultValue
		}
	}
	return "k:" + canonical(keys)
}

// canonicalElement returns the path element of a list item with its JSON in canonical form, and other path elements unchanged.
func canonicalElement(element string) string {
	prefix, text, _ := strings.Cut(element, ":")
	if value, err := decode([]byte(text)); err == nil {
		return prefix + ":" + canonical(value)
	}
	return element
}

// canonical returns JSON with sorted names and without escapes for HTML, as in FieldsV1.
func canonical(v any) string {
	var text strings.Builder
	encoder := json.NewEncoder(&text)
	encoder.SetEscapeHTML(false)
	if encoder.Encode(v) != nil {
		return ""
	}
	return strings.TrimSuffix(text.String(), "\n")
}
