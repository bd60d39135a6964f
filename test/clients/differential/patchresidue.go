package differential

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// This file detects the difference "Directives and nulls of strategic merge patches are never stored".

// replacesWithResidue reports whether the patch of s contains a null or a directive within a map that the patch
// replaces. kube-apiserver stores the null as "", and the directive as a field.
func replacesWithResidue(s Step) bool {
	selector := s.Body.Lookup("spec", "selector")
	isReplaced := strings.HasPrefix(s.Address, "policy/v1 poddisruptionbudgets/")
	return isReplaced && (hasNullIn(selector) || slices.ContainsFunc(fieldPaths(selector), isDirective)) ||
		slices.ContainsFunc(fieldPaths(s.Body), func(p fieldPath) bool {
			m := valueAt(s.Body, p)
			return m.Get("$patch").Text() == "replace" && hasPatchSyntax(m.Without("$patch"))
		})
}

// hasNullIn reports whether a map within selector contains a null.
func hasNullIn(selector document.Value) bool {
	return slices.ContainsFunc(fieldPaths(selector), func(p fieldPath) bool { return len(p) > 1 && valueAt(selector, p).IsNull() })
}

// hasPatchSyntax reports whether v contains a directive or a null.
func hasPatchSyntax(v document.Value) bool {
	return slices.ContainsFunc(fieldPaths(v), func(p fieldPath) bool { return isDirective(p) || valueAt(v, p).IsNull() })
}

// leavesResidue reports whether kube-apiserver would store parts of patch that are not values: a directive within a
// value that live does not contain, or a null of a map of strings within a new list item, which it stores as "".
func leavesResidue(live, patch document.Value) bool {
	for name, value := range patch.Fields() {
		old := live.Get(name)
		switch {
		case old.IsAbsent() && hasStoredDirective(value):
			return true
		case value.Kind() == document.Map && leavesResidue(old, value):
			return true
		case value.Kind() == document.List && (old.Kind() == document.List || hasElementOrder(patch, name)) && leavesResidueInItems(mergeKeys[name], old, value):
			return true
		}
	}
	return false
}

// hasElementOrder reports whether patch contains $setElementOrder for the list with the given name. kube-apiserver then
// merges the list even if the object does not contain it.
func hasElementOrder(patch document.Value, name string) bool {
	return !patch.Get("$setElementOrder/" + name).IsAbsent()
}

// hasStoredDirective reports whether patch, the patch of a value that does not exist yet, contains directives that
// kube-apiserver stores as fields.
func hasStoredDirective(patch document.Value) bool {
	return slices.ContainsFunc(fieldPaths(patch), func(p fieldPath) bool { return isDirective(p) && valueAt(patch, p).Text() != "delete" })
}

func leavesResidueInItems(keys []string, live, patch document.Value) bool {
	for _, item := range patch.Items() {
		switch old, known := matchingItem(keys, live, item); {
		case known && old.IsAbsent() && item.Get("$patch").IsAbsent() && hasResidue(item):
			return true
		case leavesResidue(old, item):
			return true
		}
	}
	return false
}

// matchingItem returns the item of the list live into which item, an item of a patch, is merged; an absent value if
// there is none. It returns false if item has none of the merge keys.
func matchingItem(keys []string, live, item document.Value) (document.Value, bool) {
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

// hasResidue reports whether item, a new list item, contains a directive, or a null in a map with arbitrary keys.
func hasResidue(item document.Value) bool {
	return slices.ContainsFunc(fieldPaths(item), func(p fieldPath) bool {
		return isDirective(p) || len(p) > 1 && valueAt(item, p).IsNull() && hasArbitraryKeys(p[len(p)-2])
	})
}
