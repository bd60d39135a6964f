package crdlint

import (
	"fmt"
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// maxAtomicProperties is the maximum number of properties of an atomic struct that is not reported, because it
// probably is one value, such as a reference or a quantity with a unit.
const maxAtomicProperties = 4

func (v *visitor) withoutSchema(n node) {
	v.report(n, "version-without-schema", Warning,
		"the topology is deduced from the values, and every list is atomic: appliers of different items overwrite each other",
		"declare the properties of the kind with their list types")
}

// statusSubresource reports a status that is written at the same endpoint as spec.
func (v *visitor) statusSubresource(version document.Value, root node) {
	status := root.schema.Lookup("properties", "status")
	if status.Kind() == document.Map && version.Lookup("subresources", "status").Kind() != document.Map {
		v.report(node{at: root.at.field("properties").field("status"), field: "status"}, "status-without-subresource", Warning,
			"status has no endpoint of its own: an applier of spec that includes a status takes its fields from the controller, and each status write increments metadata.generation",
			"add subresources: {status: {}} to the version")
	}
}

// list applies the rules for lists.
func (v *visitor) list(n node) {
	items := n.schema.Get("items")
	if n.inAtomic {
		v.ineffective(n)
		return
	}
	switch listType(n.schema) {
	case "":
		v.listWithoutType(n, items)
	case "set":
		v.set(n, items)
	case "map":
		v.keyedList(n, items)
	case "atomic":
		if name := lastField(n.field); name == "conditions" {
			v.conditions(n, items, "the list is atomic")
		}
	}
}

// ineffective reports a list type that has no effect, because the list is inside of an atomic list or map.
func (v *visitor) ineffective(n node) {
	if t := listType(n.schema); t == "map" || t == "set" {
		v.report(n, "topology-in-atomic", Note,
			fmt.Sprintf("x-kubernetes-list-type: %s has no effect on ownership, because an enclosing list or map is atomic and is owned as a whole", t),
			"make the enclosing lists and maps granular, or remove the list type")
	}
}

func (v *visitor) listWithoutType(n node, items document.Value) {
	if lastField(n.field) == "conditions" && items.Get("properties").Get("type").Kind() == document.Map {
		v.conditions(n, items, "the list has no list type and is atomic")
		return
	}
	const reason = "the list has no list type and is atomic: appliers of different items conflict, and a forced apply removes the items of others"
	switch {
	case isMap(items):
		if keys := suggestKeys(items); len(keys) > 0 {
			v.report(n, "list-without-type", Warning, reason, keyedFix(items, keys))
			return
		}
		v.report(n, "list-without-type", Warning, reason,
			"add a required property that identifies an item and make it the key of x-kubernetes-list-type: map, or state x-kubernetes-list-type: atomic if one manager writes the whole list")
	case isScalar(items):
		v.report(n, "list-without-type", Note, reason,
			"add x-kubernetes-list-type: set if items are unique and their order has no meaning, or else state x-kubernetes-list-type: atomic")
	default:
		v.report(n, "list-without-type", Note, reason, "state x-kubernetes-list-type: atomic")
	}
}

func (v *visitor) conditions(n node, items document.Value, cause string) {
	fix := "add x-kubernetes-list-type: map and x-kubernetes-list-map-keys: [type]"
	if items.Get("properties").Get("type").Kind() != document.Map {
		fix = "give conditions a property type and make it the list key"
	} else if !isRequired(items, "type") {
		fix += ", and add type to required"
	}
	v.report(n, "conditions-atomic", Warning,
		cause+": controllers that write different conditions overwrite each other", fix)
}

func (v *visitor) set(n node, items document.Value) {
	switch {
	case isScalar(items):
	case isMap(items) && isAtomicMap(items), isList(items) && listType(items) == "atomic":
		v.report(n, "set-of-values", Note,
			"an item is identified by its whole value: changing one of its fields removes the item and adds another",
			"use x-kubernetes-list-type: map with keys if items are edited")
	default:
		v.report(n, "set-of-values", Error,
			"items of a set must be scalars, atomic maps or atomic lists; kube-apiserver rejects others",
			"use x-kubernetes-list-type: map with keys, or atomic")
	}
	if items.Get("type").Text() == "number" {
		v.report(n, "set-of-numbers", Warning,
			"items are compared by value, and numbers with a fraction are spelled in several ways",
			"use strings or integers, or x-kubernetes-list-type: atomic")
	}
}

// keyedList applies the rules for lists of type map.
func (v *visitor) keyedList(n node, items document.Value) {
	keys := n.schema.Get("x-kubernetes-list-map-keys")
	if keys.Len() == 0 {
		v.report(n, "list-without-keys", Error, "a list of type map without keys cannot identify its items; kube-apiserver rejects it",
			"name the keys in x-kubernetes-list-map-keys")
	}
	if isMap(items) && isAtomicMap(items) {
		v.report(n, "keyed-item-atomic", Note,
			"items are identified by keys, but each item is owned as a whole: appliers of different fields of an item conflict",
			"remove x-kubernetes-map-type: atomic from the items if they have several writers")
	}
	for _, key := range keys.Items() {
		v.key(n, items, key.Text())
	}
}

// key applies the rules for one key of a list of type map.
func (v *visitor) key(n node, items document.Value, name string) {
	property := items.Get("properties").Get(name)
	at := n
	at.at = n.at.field("items").field("properties").field(name)
	switch {
	case property.Kind() != document.Map:
		v.report(n, "key-undeclared", Error, fmt.Sprintf("key %s is not a property of the items; kube-apiserver rejects it", name),
			"declare the property, or remove it from x-kubernetes-list-map-keys")
		return
	case !isScalar(property):
		v.report(at, "key-not-scalar", Error, fmt.Sprintf("key %s is not a scalar; kube-apiserver rejects it", name),
			"use a string, integer, number or boolean as key")
	case !isRequired(items, name) && property.Get("default").IsAbsent():
		v.report(at, "key-optional", Error,
			fmt.Sprintf("key %s is optional and has no default: items without the key have the same identity, so a second such item is a duplicate", name),
			fmt.Sprintf("add %s to required, or give it a default", name))
	}
	if property.Get("nullable").Bool() {
		v.report(at, "key-nullable", Warning,
			fmt.Sprintf("key %s may be null: an item with null and one without the key are the same item for some clients and two for others", name),
			"remove nullable: true")
	}
	if property.Get("type").Text() == "number" {
		v.report(at, "key-number", Warning, fmt.Sprintf("key %s is a number with a fraction, which is spelled in several ways", name),
			"use a string or an integer as key")
	}
	if property.Get("x-kubernetes-int-or-string").Bool() {
		v.report(at, "key-int-or-string", Warning,
			fmt.Sprintf("key %s is an integer or a string: 80 and \"80\" are two items", name), "use one type for the key")
	}
}

// mapOrStruct applies the rules for maps and structs.
func (v *visitor) mapOrStruct(n node) {
	properties := n.schema.Get("properties")
	if n.inAtomic {
		return
	}
	switch {
	case isAtomicMap(n.schema) && properties.Len() > maxAtomicProperties:
		v.report(n, "struct-atomic", Warning,
			fmt.Sprintf("a struct of %d properties is atomic: appliers of different properties conflict, and a forced apply removes the properties of others", properties.Len()),
			"remove x-kubernetes-map-type: atomic, unless the properties are valid only together")
	case isAtomicMap(n.schema) && n.schema.Get("additionalProperties").Kind() == document.Map && !isSelector(n.field):
		v.report(n, "map-atomic", Warning,
			"a map with arbitrary names is atomic: appliers of different entries conflict, and a forced apply removes the entries of others",
			"remove x-kubernetes-map-type: atomic, unless the entries are valid only together, as in a selector")
	case preserves(n.schema) && properties.Len() == 0 && !n.schema.Get("x-kubernetes-embedded-resource").Bool():
		v.report(n, "map-without-schema", Note,
			"values have no schema: every list in them is atomic, and a field that changes between scalar, list and map changes its owner",
			"declare the properties, or add x-kubernetes-map-type: atomic if one manager writes the whole value")
	}
}

// isSelector reports whether the name of a field is that of a selector. The entries of a selector are valid only together.
func isSelector(field path) bool {
	name := strings.ToLower(lastField(field))
	return strings.HasSuffix(name, "selector") || name == "matchlabels"
}

// lastField returns the last field name of a path.
func lastField(field path) string {
	text := strings.TrimSuffix(string(field), "[]")
	return text[strings.LastIndexByte(text, '.')+1:]
}

// isRequired reports whether a property of an object is required.
func isRequired(schema document.Value, name string) bool {
	for _, required := range schema.Get("required").Items() {
		if required.Text() == name {
			return true
		}
	}
	return false
}

// keyedFix returns the advice to change a list to a list of type map with the given keys.
func keyedFix(items document.Value, keys []string) string {
	fix := fmt.Sprintf("add x-kubernetes-list-type: map and x-kubernetes-list-map-keys: [%s]", strings.Join(keys, ", "))
	optional := slices.DeleteFunc(slices.Clone(keys), func(key string) bool {
		return isRequired(items, key) || !items.Get("properties").Get(key).Get("default").IsAbsent()
	})
	if len(optional) > 0 {
		fix += ", and add " + strings.Join(optional, ", ") + " to required"
	}
	return fix + "; or state x-kubernetes-list-type: atomic if one manager writes the whole list"
}
