package differential

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// This file has the directives of strategic merge patches.

// mergeKeys are the lists whose items strategic merge patches can remove.
var mergeKeys = map[string][]string{
	"containers": {"name"}, "initContainers": {"name"}, "env": {"name"}, "volumes": {"name"}, "volumeMounts": {"mountPath"},
	"ports": {"containerPort", "port"}, "imagePullSecrets": {"name"}, "hostAliases": {"ip"}, "topologySpreadConstraints": {"topologyKey"},
	"ownerReferences": {"uid"}, "conditions": {"type"},
}

// withDirectives sometimes has an item removed instead of merged. Lists at the top of an object have no merge keys.
func (g *generator) withDirectives(body document.Value) document.Value {
	for _, p := range places(body) {
		if len(p) < 3 || !isIndex(p[len(p)-1]) || !g.chance(20) {
			continue
		}
		inNew := at(body, p[:len(p)-2]).Get("name").Text() == "side" // where a directive has nothing to be about
		for _, name := range mergeKeys[p[len(p)-2]] {
			if key := at(body, p).Get(name); !key.IsAbsent() && !inNew && !isInReplaced(p[:len(p)-1]) {
				return replaced(body, p, field(name, key).With("$patch", document.NewString("delete")))
			}
		}
	}
	return body
}

// withOrders sometimes has one of the directives that are about a whole map or list. Lists at the top of an object have no
// merge keys.
func (g *generator) withOrders(body document.Value) document.Value {
	places := slices.DeleteFunc(places(body)[1:], func(p place) bool {
		return isInReplaced(p) || isDirective(p) || at(body, p).Len() == 0 || at(body, p[:1]).Kind() == document.List
	})
	if len(places) == 0 || !g.chance(25) {
		return body
	}
	p := one(g, places)
	switch value := at(body, p); value.Kind() {
	case document.Map:
		return replaced(body, p, g.ordered(value))
	case document.List:
		return g.withListOrder(body, p)
	}
	return body
}

// ordered is a map that replaces the one that is there, or of which that keeps some fields only.
func (g *generator) ordered(m document.Value) document.Value {
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

// withListOrder says beside a list in which order its items are, or which of them go.
func (g *generator) withListOrder(body document.Value, p place) document.Value {
	name, list, around := p[len(p)-1], at(body, p), at(body, p[:len(p)-1])
	order := slices.Clone(itemsOf(list))
	if name == "finalizers" {
		if g.chance(50) {
			return replaced(body, p[:len(p)-1], around.Without(name).With("$deleteFromPrimitiveList/"+name, list))
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
	return replaced(body, p[:len(p)-1], around.With("$setElementOrder/"+name, document.NewList(order...)))
}

// identityOf is what is left of an item that is only its merge key; absent if it has none.
func identityOf(keys []string, item document.Value) document.Value {
	for _, key := range keys {
		if value := item.Get(key); !value.IsAbsent() {
			return field(key, value)
		}
	}
	return document.Value{}
}

// isDirective is for places in a patch that say what is done, and not what shall be there.
func isDirective(p place) bool {
	return slices.ContainsFunc(p, func(name string) bool { return strings.HasPrefix(name, "$") })
}
