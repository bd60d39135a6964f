package differential

import (
	"slices"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// parts draws up to some parts.
func (g *generator) parts(from []document.Value, most int) []document.Value {
	var parts []document.Value
	for range 1 + g.IntN(most) {
		parts = append(parts, g.drawn(one(g, from)))
	}
	return parts
}

// object is a valid object with some parts.
func (g *generator) object(v version, parts []document.Value) document.Value {
	return g.named(v, merged(v.base, parts...))
}

// named adds what says which object it is.
func (g *generator) named(v version, body document.Value) document.Value {
	meta := document.NewMap()
	if given := body.Get("metadata"); !given.IsAbsent() {
		meta = given
	}
	return body.With("apiVersion", document.NewString(v.apiVersion)).With("kind", document.NewString(v.kind)).
		With("metadata", meta.With("name", document.NewString(g.kind.name())))
}

// drawn has one of the choices in the place of each <s:a|b> and <v:1|2>.
func (g *generator) drawn(part document.Value) document.Value {
	switch part.Kind() {
	case document.Map:
		drawn := document.NewMap()
		for name, value := range part.Fields() {
			drawn = drawn.With(name, g.drawn(value))
		}
		return drawn
	case document.List:
		var items []document.Value
		for _, item := range part.Items() {
			items = append(items, g.drawn(item))
		}
		return document.NewList(items...)
	case document.String:
		return g.chosenOf(part)
	}
	return part
}

func (g *generator) chosenOf(word document.Value) document.Value {
	text := word.Text()
	start, end := strings.Index(text, "<"), strings.LastIndex(text, ">")
	if start < 0 || end < start+3 {
		return word
	}
	sort, choices := text[start+1:start+3], strings.Split(text[start+3:end], "|")
	choice := text[:start] + one(g, choices) + text[end+1:]
	if number, err := strconv.ParseInt(choice, 10, 64); err == nil && sort == "v:" {
		return document.NewInt(number)
	}
	return document.NewString(choice)
}

const unknownName = "nobodyKnows"

// withUnknown has a field more that no kind has, somewhere.
func (g *generator) withUnknown(body document.Value) document.Value {
	var maps []place
	for _, p := range places(body) {
		if at(body, p).Kind() == document.Map && !slices.ContainsFunc(p, hasAnyNames) {
			maps = append(maps, p)
		}
	}
	p := one(g, maps)
	return replaced(body, p, at(body, p).With(unknownName, document.NewInt(1)))
}

// hasAnyNames is for maps whose fields have whatever names.
func hasAnyNames(name string) bool {
	switch name {
	case "labels", "annotations", "data", "binaryData", "stringData", "nodeSelector", "matchLabels", "selector", "hard", "used",
		"limits", "requests", "default", "max", "min", "parameters", "attachmentMetadata", "capacity", "allocatable", "overhead", "podFixed",
		"attributes", "counters":
		return true
	}
	return false
}

// keyFields tell the items of lists apart, the first that an item has.
var keyFields = []string{"uid", "name", "containerPort", "port", "mountPath", "type", "key", "ip", "host", "topologyKey"}

func keyOf(item document.Value) (string, document.Value) {
	for _, name := range keyFields {
		if key := item.Get(name); !key.IsAbsent() {
			return name, key
		}
	}
	return "", document.Value{}
}

// merged puts parts together: maps by their fields, items by their keys. The last one wins.
func merged(base document.Value, parts ...document.Value) document.Value {
	for _, part := range parts {
		base = mergedWith(base, part)
	}
	return base
}

func mergedWith(a, b document.Value) document.Value {
	switch {
	case a.Kind() == document.Map && b.Kind() == document.Map:
		for name, value := range b.Fields() {
			a = a.With(name, mergedWith(a.Get(name), value))
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
			items[i] = mergedWith(other, item)
			return items
		}
	}
	return append(items, item)
}

// withNulls often has null in the place of a field. Items keep their keys: what a patch means that has none is
// a matter of its own, and so are nulls in lists that patches replace as they are.
func (g *generator) withNulls(body document.Value) document.Value {
	places := slices.DeleteFunc(fieldsOf(body), func(p place) bool {
		name := p[len(p)-1]
		return isDirective(p) || isInReplaced(p) || len(p) > 1 && isIndex(p[len(p)-2]) && slices.Contains(keyFields, name)
	})
	if len(places) > 0 && g.chance(45) {
		return replaced(body, one(g, places), document.NewNull())
	}
	return body
}

// isInReplaced is for places inside of lists without merge keys, and of items inside of selectors, which have none.
func isInReplaced(p place) bool {
	for i, name := range p {
		if isIndex(name) && mergeKeys[p[i-1]] == nil {
			return true
		}
	}
	return false
}

// withoutWholes sometimes has null in the place of all labels, or of another field of the spec. Where an edit
// removes the last entry it would send a map that is empty, which Cadastre keeps.
func (g *generator) withoutWholes(body document.Value) document.Value {
	places := slices.DeleteFunc(fieldsOf(body), func(p place) bool {
		return len(p) > 2 || len(p) == 1 && (p[0] == "spec" || p[0] == "metadata") || len(p) == 2 && p[0] != "spec" && p[0] != "metadata"
	})
	if len(places) > 0 && g.chance(35) {
		return replaced(body, one(g, places), document.NewNull())
	}
	return body
}

// operations is a JSON patch that adds, replaces, removes or tests some of what is in a body.
func (g *generator) operations(body document.Value) document.Value {
	var operations []document.Value
	candidates := places(body)[1:]
	for range 1 + g.IntN(2) {
		p := one(g, candidates)
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
		verb := one(g, []string{"add", "add", "add", "replace", "remove", "test"})
		operation := field("op", document.NewString(verb)).With("path", document.NewString(pointer))
		if verb != "remove" {
			operation = operation.With("value", at(body, p))
		}
		operations = append(operations, operation)
	}
	return document.NewList(operations...)
}

// transfer copies or moves a label.
func (g *generator) transfer() document.Value {
	places := []string{"/metadata/labels/x", "/metadata/labels/y", "/metadata/annotations/x"}
	return field("op", document.NewString(one(g, []string{"copy", "move"}))).
		With("from", document.NewString(one(g, places))).With("path", document.NewString(one(g, places)))
}

// without copies a list, one left out.
func without[T any](list []T, i int) []T {
	if i == len(list) {
		return slices.Clone(list)
	}
	return slices.Delete(slices.Clone(list), i, i+1)
}
