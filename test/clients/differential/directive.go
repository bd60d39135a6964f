package differential

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// This file generates directives of strategic merge patches.

// mergeKeys maps the names of lists to the possible merge keys of their items.
var mergeKeys = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "env": {"name"}, "volumes": {"name"}, "volumeMounts": {"mountPath"},
	"ports": {"containerPort", "port"}, "imagePullSecrets": {"name"}, "hostAliases": {"ip"}, "topologySpreadConstraints": {"topologyKey"},
	"ownerReferences": {"uid"}, "conditions": {"type"},
}

// withDirectives sometimes replaces a list item with a $patch: delete directive. It skips lists at the top level of an
// object, which have no merge keys.
func (g *generator) withDirectives(body document.Value) document.Value {
	for _, p := range fieldPaths(body) {
		if len(p) < 3 || !isIndex(p[len(p)-1]) || !g.chance(20) {
			continue
		}
		inNew := valueAt(body, p[:len(p)-2]).Get("name").Text() == "side" // the container "side" is new in the patch, so its lists contain nothing to delete
		for _, name := range mergeKeys[p[len(p)-2]] {
			if key := valueAt(body, p).Get(name); !key.IsAbsent() && !inNew && !isInReplacedList(p[:len(p)-1]) {
				return withValue(body, p, field(name, key).With("$patch", document.NewString("delete")))
			}
		}
	}
	return body
}

// withContainerDirectives sometimes adds a directive for a whole map or list to body. It skips lists at the top level
// of an object, which have no merge keys.
func (g *generator) withContainerDirectives(body document.Value) document.Value {
	places := slices.DeleteFunc(fieldPaths(body)[1:], func(p fieldPath) bool {
		return isInReplacedList(p) || isDirective(p) || valueAt(body, p).Len() == 0 || valueAt(body, p[:1]).Kind() == document.List
	})
	if len(places) == 0 || !g.chance(25) {
		return body
	}
	p := pick(g, places)
	switch value := valueAt(body, p); value.Kind() {
	case document.Map:
		return withValue(body, p, g.withMapDirective(value))
	case document.List:
		return g.withListDirective(body, p)
	}
	return body
}

// withMapDirective returns m with $patch: replace or $retainKeys.
func (g *generator) withMapDirective(m document.Value) document.Value {
	if g.chance(40) {
		return m.With("$patch", document.NewString("replace"))
	}
	var kept []document.Value
	for name := range m.Fields() {
		kept = append(kept, document.NewString(name))
	}
	if g.chance(30) {
		kept = append(kept, document.NewString("name"))
	}
	return m.With("$retainKeys", document.NewList(kept...))
}

// withListDirective returns body with $setElementOrder or $deleteFromPrimitiveList next to the list at p.
func (g *generator) withListDirective(body document.Value, p fieldPath) document.Value {
	name, list, around := p[len(p)-1], valueAt(body, p), valueAt(body, p[:len(p)-1])
	order := slices.Clone(itemsOf(list))
	if name == "finalizers" {
		if g.chance(50) {
			return withValue(body, p[:len(p)-1], around.Without(name).With("$deleteFromPrimitiveList/"+name, list))
		}
		order = append(order, document.NewString("example.com/c"))
	} else {
		for i, item := range order {
			order[i] = identityOf(mergeKeys[name], item)
			if order[i].IsAbsent() {
				return body
			}
		}
	}
	if g.chance(50) {
		slices.Reverse(order)
	}
	return withValue(body, p[:len(p)-1], around.With("$setElementOrder/"+name, document.NewList(order...)))
}

// identityOf returns a map with only the merge key of item: the first of keys that item has. It returns an absent value
// if item has none of them.
func identityOf(keys []string, item document.Value) document.Value {
	for _, key := range keys {
		if value := item.Get(key); !value.IsAbsent() {
			return field(key, value)
		}
	}
	return document.Value{}
}

// isDirective reports whether p, a path in a patch, contains a directive.
func isDirective(p fieldPath) bool {
	return slices.ContainsFunc(p, func(name string) bool { return strings.HasPrefix(name, "$") })
}
