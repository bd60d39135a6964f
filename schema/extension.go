package schema

import (
	"strings"

	"github.com/cadastre/cadastre/document"
)

// This file reads the x-kubernetes-* extensions of one schema object.

// flag reads a boolean extension; absent means false.
func (r *reader) flag(v document.Value, at *place, name string) bool {
	f := given(v, name)
	if !f.IsAbsent() && f.Kind() != document.Bool {
		r.add(at.field(name), "true or false", describe(f), "")
	}
	return f.Bool()
}

// preserves reports whether a schema object keeps undeclared fields. A CRD can not
// say that it does not, so that nobody expects to switch it off further inside.
func (r *reader) preserves(v document.Value, at *place) bool {
	const extension = "x-kubernetes-preserve-unknown-fields"
	preserve := r.flag(v, at, extension)
	if r.custom && !preserve && given(v, extension).Kind() == document.Bool {
		r.add(at.field(extension), "true, or no such field", "false", "remove it")
	}
	return preserve
}

// mapOverride reads x-kubernetes-map-type: of a map type the relationship, of a
// reference the override.
func (r *reader) mapOverride(v document.Value, at *place) override {
	const extension = "x-kubernetes-map-type"
	word := given(v, extension)
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

// listRelationship reads how the items of a list belong together. A list type
// counts; without one the older patch strategy does; without both, lists are
// atomic. CRDs have no patch strategies.
func (r *reader) listRelationship(v document.Value, at *place) (associative bool, keys []string) {
	if !given(v, "x-kubernetes-list-type").IsAbsent() {
		return r.listType(v, at)
	}
	strategy := given(v, "x-kubernetes-patch-strategy")
	if strategy.IsAbsent() || r.custom {
		return false, nil
	}
	at = at.field("x-kubernetes-patch-strategy")
	if strategy.Kind() != document.String {
		r.add(at, "a patch strategy", describe(strategy), "write merge, replace or retainKeys")
		return false, nil
	}
	return r.patchStrategy(strategy.Text(), given(v, "x-kubernetes-patch-merge-key"), at)
}

func (r *reader) listType(v document.Value, at *place) (associative bool, keys []string) {
	switch word := given(v, "x-kubernetes-list-type"); word.Text() {
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

func (r *reader) mapKeys(v document.Value, at *place) []string {
	const extension = "x-kubernetes-list-map-keys"
	keys := given(v, extension)
	if keys.IsAbsent() || r.custom && keys.Len() == 0 {
		r.add(at, "the fields that tell the items of the list apart", "no "+extension,
			"name them, or use another x-kubernetes-list-type")
		return nil
	}
	return r.texts(keys, at.field(extension))
}

// texts reads a list of distinct strings.
func (p *problems) texts(v document.Value, at *place) []string {
	if v.Kind() != document.List {
		p.add(at, "a list of field names", describe(v), "")
		return nil
	}
	seen := make(map[string]bool, v.Len())
	texts := make([]string, 0, v.Len())
	for i, item := range v.Items() {
		text := item.Text()
		switch {
		case item.Kind() != document.String:
			p.add(at.index(i), "a field name", describe(item), "")
		case seen[text]:
			p.add(at.index(i), "each field name once", quote(text)+" again", "remove it")
		default:
			seen[text] = true
			texts = append(texts, text)
		}
	}
	return texts
}

// patchStrategy converts what strategic merge patch knows about a list: merged
// with a key it is keyed by it, merged without one it is a set.
func (p *problems) patchStrategy(strategy string, key document.Value, at *place) (associative bool, keys []string) {
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
			"name the field that tells the items of the list apart")
	default:
		return true, []string{key.Text()}
	}
	return false, nil
}
