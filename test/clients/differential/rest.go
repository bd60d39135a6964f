package differential

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// This file is about the difference "Directives and nulls of strategic merge patches are never stored".

// replacesWithRest is for patches that put a null or a directive into a map that they replace. Kubernetes makes "" of the
// null, and takes the directive for a field.
func replacesWithRest(s Step) bool {
	selector := s.Body.Lookup("spec", "selector")
	isReplaced := strings.HasPrefix(s.Address, "policy/v1 poddisruptionbudgets/")
	return isReplaced && (hasNullIn(selector) || slices.ContainsFunc(places(selector), isDirective)) ||
		slices.ContainsFunc(places(s.Body), func(p place) bool {
			m := at(s.Body, p)
			return m.Get("$patch").Text() == "replace" && isOfPatch(m.Without("$patch"))
		})
}

// hasNullIn reports whether a map in a selector has a null.
func hasNullIn(selector document.Value) bool {
	return slices.ContainsFunc(places(selector), func(p place) bool { return len(p) > 1 && at(selector, p).IsNull() })
}

// isOfPatch reports whether something in a value is about the patch, and not about the object.
func isOfPatch(v document.Value) bool {
	return slices.ContainsFunc(places(v), func(p place) bool { return isDirective(p) || at(v, p).IsNull() })
}

// leavesRest is for patches of which something gets into the object with what is new: a directive, or, in
// an item, a null in a map of strings, of which Kubernetes makes "".
func leavesRest(live, patch document.Value) bool {
	for name, value := range patch.Fields() {
		old := live.Get(name)
		switch {
		case old.IsAbsent() && isKeptWhereNew(value):
			return true
		case value.Kind() == document.Map && leavesRest(old, value):
			return true
		case value.Kind() == document.List && (old.Kind() == document.List || isOrdered(patch, name)) && leavesRestInItems(mergeKeys[name], old, value):
			return true
		}
	}
	return false
}

// isOrdered is for lists of which a patch says the order: Kubernetes merges them also if there is none yet.
func isOrdered(patch document.Value, name string) bool {
	return !patch.Get("$setElementOrder/" + name).IsAbsent()
}

// isKeptWhereNew is for what has directives that Kubernetes takes for fields where nothing was before.
func isKeptWhereNew(patch document.Value) bool {
	return slices.ContainsFunc(places(patch), func(p place) bool { return isDirective(p) && at(patch, p).Text() != "delete" })
}

func leavesRestInItems(keys []string, live, patch document.Value) bool {
	for _, item := range patch.Items() {
		switch old, known := itemLike(keys, live, item); {
		case known && old.IsAbsent() && item.Get("$patch").IsAbsent() && hasRest(item):
			return true
		case leavesRest(old, item):
			return true
		}
	}
	return false
}

// itemLike returns the live item that one of a patch is merged into; absent if there is none. It reports false if the
// item has no merge key.
func itemLike(keys []string, live, item document.Value) (document.Value, bool) {
	for _, key := range keys {
		id := item.Get(key)
		if id.IsAbsent() {
			continue
		}
		for _, old := range live.Items() {
			if document.Equal(old.Get(key), id) {
				return old, true
			}
		}
		return document.Value{}, true
	}
	return document.Value{}, false
}

// hasRest reports whether a new item has something in it that is about the patch.
func hasRest(item document.Value) bool {
	return slices.ContainsFunc(places(item), func(p place) bool {
		return isDirective(p) || len(p) > 1 && at(item, p).IsNull() && hasAnyNames(p[len(p)-2])
	})
}
