package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// parts returns between 1 and maxParts randomly chosen elements of choices, possibly the same element several times,
// with placeholders replaced.
func (g *generator) parts(choices []document.Value, maxParts int) []document.Value {
	var parts []document.Value
	for range 1 + g.IntN(maxParts) {
		parts = append(parts, g.substitute(pick(g, choices)))
	}
	return parts
}

// object returns a valid object: the base of the version with the given parts merged into it.
func (g *generator) object(v version, parts []document.Value) document.Value {
	return g.withIdentity(v, mergeParts(v.base, parts...))
}

// withIdentity returns body with the apiVersion and kind of v, and with the name of the object.
func (g *generator) withIdentity(v version, body document.Value) document.Value {
	meta := document.NewMap()
	if given := body.Get("metadata"); !given.IsAbsent() {
		meta = given
	}
	return body.With("apiVersion", document.NewString(v.apiVersion)).With("kind", document.NewString(v.kind)).
		With("metadata", meta.With("name", document.NewString(g.kind.name())))
}

// substitute replaces each placeholder such as <s:a|b> or <v:1|2> in part with one of its choices. The choices of <s:…>
// are strings. A choice of <v:…> is an integer if it can be parsed as an integer, or a string if not.
func (g *generator) substitute(part document.Value) document.Value {
	switch part.Kind() {
	case document.Map:
		drawn := document.NewMap()
		for name, value := range part.Fields() {
			drawn = drawn.With(name, g.substitute(value))
		}
		return drawn
	case document.List:
		var items []document.Value
		for _, item := range part.Items() {
			items = append(items, g.substitute(item))
		}
		return document.NewList(items...)
	case document.String:
		return g.choiceOf(part)
	}
	return part
}

func (g *generator) choiceOf(word document.Value) document.Value {
	text := word.Text()
	start, end := strings.Index(text, "<"), strings.LastIndex(text, ">")
	if start < 0 || end < start+3 {
		return word
	}
	sort, choices := text[start+1:start+3], strings.Split(text[start+3:end], "|")
	choice := text[:start] + pick(g, choices) + text[end+1:]
	if number, err := strconv.ParseInt(choice, 10, 64); err == nil && sort == "v:" {
		return document.NewInt(number)
	}
	return document.NewString(choice)
}

const unknownField = "nobodyKnows"

// withUnknown returns body with an unknown field in a randomly chosen map.
func (g *generator) withUnknown(body document.Value) document.Value {
	var maps []fieldPath
	for _, p := range fieldPaths(body) {
		if valueAt(body, p).Kind() == document.Map && !slices.ContainsFunc(p, hasArbitraryKeys) {
			maps = append(maps, p)
		}
	}
	p := pick(g, maps)
	return withValue(body, p, valueAt(body, p).With(unknownField, document.NewInt(1)))
}

// hasArbitraryKeys reports whether a field is a map whose keys are not defined by the schema.
func hasArbitraryKeys(name string) bool {
	switch name {
	case "labels", "annotations", "data", "binaryData", "stringData", "nodeSelector", "matchLabels", "selector", "hard", "used",
		"limits", "requests", "default", "max", "min", "parameters", "attachmentMetadata", "capacity", "allocatable", "overhead", "podFixed",
		"attributes", "counters":
		return true
	}
	return false
}

// keyFields lists fields that identify the items of lists. An item is identified by the first field in this list that
// it has.
var keyFields = []string{"uid", "name", "containerPort", "port", "mountPath", "type", "key", "ip", "host", "topologyKey"}

func keyOf(item document.Value) (string, document.Value) {
	for _, name := range keyFields {
		if key := item.Get(name); !key.IsAbsent() {
			return name, key
		}
	}
	return "", document.Value{}
}

// mergeParts merges parts into base: maps by field, and list items by their key. The last value of a field wins.
func mergeParts(base document.Value, parts ...document.Value) document.Value {
	for _, part := range parts {
		base = mergeValues(base, part)
	}
	return base
}

func mergeValues(a, b document.Value) document.Value {
	switch {
	case a.Kind() == document.Map && b.Kind() == document.Map:
		for name, value := range b.Fields() {
			a = a.With(name, mergeValues(a.Get(name), value))
		}
		return a
	case a.Kind() == document.List && b.Kind() == document.List:
		items := itemsOf(a)
		for _, item := range b.Items() {
			items = withItem(items, item)
		}
		return document.NewList(items...)
	}
	return b
}

func withItem(items []document.Value, item document.Value) []document.Value {
	name, key := keyOf(item)
	for i, other := range items {
		switch otherName, otherKey := keyOf(other); {
		case document.Equal(item, other):
			return items
		case name != "" && name == otherName && document.Equal(key, otherKey):
			items[i] = mergeValues(other, item)
			return items
		}
	}
	return append(items, item)
}

// withNulls often replaces one field of body, a patch, with null. It never replaces key fields, because patches of
// items without a key are not tested here, nor fields within lists that patches replace as a whole.
func (g *generator) withNulls(body document.Value) document.Value {
	places := slices.DeleteFunc(fieldsOf(body), func(p fieldPath) bool {
		name := p[len(p)-1]
		return isDirective(p) || isInReplacedList(p) || len(p) > 1 && isIndex(p[len(p)-2]) && slices.Contains(keyFields, name)
	})
	if len(places) > 0 && g.chance(45) {
		return withValue(body, pick(g, places), document.NewNull())
	}
	return body
}

// isInReplacedList reports whether p is within a list without merge keys, which a patch replaces as a whole.
func isInReplacedList(p fieldPath) bool {
	for i, name := range p {
		if isIndex(name) && mergeKeys[p[i-1]] == nil {
			return true
		}
	}
	return false
}

// withoutContainers sometimes replaces one field of the spec or of the metadata, or one other top-level field, with
// null. An edit that removed only the last entry of a map would send an empty map, which Cadastre retains.
func (g *generator) withoutContainers(body document.Value) document.Value {
	places := slices.DeleteFunc(fieldsOf(body), func(p fieldPath) bool {
		return len(p) > 2 || len(p) == 1 && (p[0] == "spec" || p[0] == "metadata") || len(p) == 2 && p[0] != "spec" && p[0] != "metadata"
	})
	if len(places) > 0 && g.chance(35) {
		return withValue(body, pick(g, places), document.NewNull())
	}
	return body
}

// operations returns a JSON patch with one or two random operations that add, replace, remove or test parts of body.
func (g *generator) operations(body document.Value) document.Value {
	var operations []document.Value
	candidates := fieldPaths(body)[1:]
	for range 1 + g.IntN(2) {
		p := pick(g, candidates)
		pointer := ""
		for i, name := range p {
			if isIndex(name) && i == len(p)-1 && g.chance(50) {
				name = "-"
			}
			pointer += "/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(strings.TrimPrefix(name, indexMark))
		}
		if g.chance(8) {
			operations = append(operations, g.transfer())
			continue
		}
		verb := pick(g, []string{"add", "add", "add", "replace", "remove", "test"})
		operation := field("op", document.NewString(verb)).With("path", document.NewString(pointer))
		if verb != "remove" {
			operation = operation.With("value", valueAt(body, p))
		}
		operations = append(operations, operation)
	}
	return document.NewList(operations...)
}

// transfer returns a JSON patch operation that copies or moves a label or an annotation.
func (g *generator) transfer() document.Value {
	places := []string{"/metadata/labels/x", "/metadata/labels/y", "/metadata/annotations/x"}
	return field("op", document.NewString(pick(g, []string{"copy", "move"}))).
		With("from", document.NewString(pick(g, places))).With("path", document.NewString(pick(g, places)))
}

// without returns a copy of list without the item with index i. If i is the length of list, the copy has all items.
func without[T any](list []T, i int) []T {
	if i == len(list) {
		return slices.Clone(list)
	}
	return slices.Delete(slices.Clone(list), i, i+1)
}
