package schema

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// This file reads the x-kubernetes-* extensions of one schema object.

// readFlag returns the boolean field name of the schema object v; it returns false if the field is absent.
func (r *reader) readFlag(v document.Value, at *location, name string) bool {
	f := nonNull(v, name)
	if !f.IsAbsent() && f.Kind() != document.Bool {
		r.add(at.field(name), "true or false", describe(f), "")
	}
	return f.Bool()
}

// preserves reports whether a schema object declares x-kubernetes-preserve-unknown-fields: true. In a CRD the value
// false is a problem, because Kubernetes does not allow nested objects to switch the extension off.
func (r *reader) preserves(v document.Value, at *location) bool {
	const extension = "x-kubernetes-preserve-unknown-fields"
	preserve := r.readFlag(v, at, extension)
	if r.custom && !preserve && nonNull(v, extension).Kind() == document.Bool {
		r.add(at.field(extension), "true, or no such field", "false", "remove it")
	}
	return preserve
}

// readMapOverride reads x-kubernetes-map-type. Beside a $ref, this extension overrides the relationship of the
// referenced map; elsewhere it declares the relationship of the map itself.
func (r *reader) readMapOverride(v document.Value, at *location) override {
	const extension = "x-kubernetes-map-type"
	word := nonNull(v, extension)
	switch {
	case word.IsAbsent():
	case word.Text() == "atomic":
		return toAtomic
	case word.Text() == "granular":
		return toGranular
	default:
		r.add(at.field(extension), "atomic or granular", describe(word), "")
	}
	return asDeclared
}

// readListRelationship reads whether the items of a list are owned individually and which keys identify them.
// x-kubernetes-list-type has precedence over the older patch strategy; without either, the list is atomic. Patch
// strategies are ignored in CRDs.
func (r *reader) readListRelationship(v document.Value, at *location) (associative bool, keys []string) {
	if !nonNull(v, "x-kubernetes-list-type").IsAbsent() {
		return r.listType(v, at)
	}
	strategy := nonNull(v, "x-kubernetes-patch-strategy")
	if strategy.IsAbsent() || r.custom {
		return false, nil
	}
	at = at.field("x-kubernetes-patch-strategy")
	if strategy.Kind() != document.String {
		r.add(at, "a patch strategy", describe(strategy), "write merge, replace or retainKeys")
		return false, nil
	}
	return r.patchStrategy(strategy.Text(), nonNull(v, "x-kubernetes-patch-merge-key"), at)
}

func (r *reader) listType(v document.Value, at *location) (associative bool, keys []string) {
	switch word := nonNull(v, "x-kubernetes-list-type"); word.Text() {
	case "atomic":
		return false, nil
	case "set":
		return true, nil
	case "map":
		return true, r.mapKeys(v, at)
	default:
		r.add(at.field("x-kubernetes-list-type"), "atomic, set or map", describe(word), "")
		return false, nil
	}
}

func (r *reader) mapKeys(v document.Value, at *location) []string {
	const extension = "x-kubernetes-list-map-keys"
	keys := nonNull(v, extension)
	if keys.IsAbsent() || r.custom && keys.Len() == 0 {
		r.add(at, "the fields that identify the items of the list", "no "+extension,
			"name them, or use another x-kubernetes-list-type")
		return nil
	}
	return r.readStringList(keys, at.field(extension))
}

// readStringList reads a list of distinct field names.
func (p *problems) readStringList(v document.Value, at *location) []string {
	if v.Kind() != document.List {
		p.add(at, "a list of field names", describe(v), "")
		return nil
	}
	seen := make(map[string]bool, v.Len())
	stringList := make([]string, 0, v.Len())
	for i, item := range v.Items() {
		text := item.Text()
		switch {
		case item.Kind() != document.String:
			p.add(at.index(i), "a field name", describe(item), "")
		case seen[text]:
			p.add(at.index(i), "each field name once", quote(text)+" again", "remove it")
		default:
			seen[text] = true
			stringList = append(stringList, text)
		}
	}
	return stringList
}

// patchStrategy converts a patch strategy and merge key of strategic merge patch: a list with the strategy merge is
// keyed by its merge key, or a set if it has none. Other lists are atomic.
func (p *problems) patchStrategy(strategy string, key document.Value, at *location) (associative bool, keys []string) {
	merge, replace := false, false
	for word := range strings.SplitSeq(strategy, ",") {
		switch word {
		case "merge":
			merge = true
		case "replace":
			replace = true
		case "retainKeys":
		default:
			p.add(at, "merge, replace or retainKeys", quote(strategy), "")
			return false, nil
		}
	}
	switch {
	case merge && replace:
		p.add(at, "either merge or replace", quote(strategy), "remove one of them")
	case !merge:
	case key.IsAbsent():
		return true, nil
	case key.Kind() != document.String:
		p.add(at, "a patch merge key that is a string", describe(key),
			"name the field that identifies the items of the list")
	default:
		return true, []string{key.Text()}
	}
	return false, nil
}
