package structural

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
)

// maker generates random schemas, and objects that nearly match them.
type maker struct{ *rand.Rand }

type object = map[string]any

// names returns the names of the fields of an object, sorted, so that a seed always generates the same values.
func names(of object) []string { return slices.Sorted(maps.Keys(of)) }

func (m maker) oneIn(n int) bool { return m.IntN(n) == 0 }

func pick[T any](m maker, from ...T) T { return from[m.IntN(len(from))] }

// schema generates the schema of a kind.
func (m maker) schema() object {
	root := m.objectSchema(4)
	properties, _ := root["properties"].(object)
	if properties == nil {
		properties = object{}
	}
	delete(root, "additionalProperties")
	delete(root, "x-kubernetes-embedded-resource")
	delete(root, "nullable")
	delete(root, "default")
	root["properties"] = properties
	properties["spec"] = m.objectSchema(3)
	if m.oneIn(2) {
		properties["status"] = m.objectSchema(2)
	}
	if m.oneIn(3) {
		properties["apiVersion"], properties["kind"], properties["metadata"] = object{"type": "string"}, object{"type": "string"}, object{"type": "object"}
	}
	return root
}

// node generates the schema of a value, nested up to depth levels.
func (m maker) node(depth int) object {
	var s object
	switch kind := m.IntN(12); {
	case depth <= 0 || kind < 5:
		s = m.scalarSchema()
	case kind < 8:
		s = m.objectSchema(depth)
	case kind < 11:
		s = m.listSchema(depth)
	default:
		s = object{"x-kubernetes-preserve-unknown-fields": true}
	}
	if m.oneIn(4) {
		s["nullable"] = true
	}
	if m.oneIn(6) {
		m.addCombinator(s, depth)
	}
	return s
}

func (m maker) scalarSchema() object {
	s := object{}
	switch m.IntN(5) {
	case 0:
		s["type"] = "boolean"
	case 1:
		s["type"] = "integer"
		m.numberLimits(s)
		m.maybe(s, 3, "format", pick(m, "int32", "int64", "byte", "other"))
		m.rule(s, 8, pick(m, "self > 0", "self != 3", "self >= oldSelf", "self / (self - 1) > 0"))
	case 2:
		s["type"] = "number"
		m.numberLimits(s)
		m.maybe(s, 3, "format", pick(m, "float", "double", "int32"))
	case 3:
		s["x-kubernetes-int-or-string"] = true
		m.maybe(s, 4, "maxLength", m.IntN(4))
		m.maybe(s, 4, "maximum", m.IntN(5))
		m.maybe(s, 6, "enum", []any{"a", "b", 3})
		if m.oneIn(3) {
			s["anyOf"] = []any{object{"type": "integer"}, object{"type": "string"}}
		}
	default:
		s["type"] = "string"
		m.textLimits(s)
		m.rule(s, 6, pick(m, "self.startsWith('a')", "self != 'b'", "self == oldSelf", "size(self) < 3"))
	}
	if m.oneIn(6) {
		s["default"] = m.scalarOf(s)
	}
	return s
}

// maybe sets the field name of the schema s to value with probability 1/n.
func (m maker) maybe(s object, n int, name string, value any) {
	if m.oneIn(n) {
		s[name] = value
	}
}

// rule adds the CEL rule text to the schema s with probability 1/n.
func (m maker) rule(s object, n int, text string) {
	if !m.oneIn(n) {
		return
	}
	rule := object{"rule": text}
	m.maybe(rule, 2, "message", "value violates the rule")
	m.maybe(rule, 4, "reason", pick(m, "FieldValueRequired", "FieldValueForbidden", "FieldValueDuplicate", "FieldValueInvalid"))
	s["x-kubernetes-validations"] = []any{rule}
}

func (m maker) numberLimits(s object) {
	m.maybe(s, 4, "minimum", pick[any](m, -1, 0, 2, 1.5))
	m.maybe(s, 4, "maximum", pick[any](m, 2, 4, 10, 2.5))
	m.maybe(s, 6, "exclusiveMinimum", true)
	m.maybe(s, 6, "exclusiveMaximum", true)
	m.maybe(s, 6, "multipleOf", pick[any](m, 1, 2, 3, 0.5))
	m.maybe(s, 8, "enum", []any{1, 2, 2.5, 3})
}

var textFormats = []string{"date", "date-time", "ipv4", "ipv6", "uuid", "email", "duration", "byte", "uri", "hostname", "k8s-short-name", "cidr", "mac", "unheard-of", "int32"}

func (m maker) textLimits(s object) {
	m.maybe(s, 4, "minLength", m.IntN(3))
	m.maybe(s, 4, "maxLength", m.IntN(5))
	m.maybe(s, 5, "pattern", pick(m, "^a", "^[a-z]*$", "b+"))
	m.maybe(s, 5, "format", pick(m, textFormats...))
	m.maybe(s, 5, "enum", []any{"a", "b", "abc"})
}

func (m maker) objectSchema(depth int) object {
	s := object{"type": "object"}
	m.maybe(s, 8, "minProperties", m.IntN(3))
	m.maybe(s, 8, "maxProperties", m.IntN(4))
	m.maybe(s, 10, "x-kubernetes-map-type", pick(m, "atomic", "granular"))
	if m.oneIn(5) {
		s["additionalProperties"] = m.node(depth - 1)
		return s
	}
	properties := object{}
	for range m.IntN(5) {
		properties[m.name()] = m.node(depth - 1)
	}
	if m.oneIn(6) {
		s["x-kubernetes-preserve-unknown-fields"] = true
	}
	if m.oneIn(8) {
		s["x-kubernetes-embedded-resource"], s["x-kubernetes-preserve-unknown-fields"] = true, true
	}
	if len(properties) > 0 {
		s["properties"] = properties
		m.maybe(s, 4, "required", []any{m.name()})
		for _, name := range names(properties) {
			m.rule(s, 10, fmt.Sprintf("has(self.%s)", name))
			if m.oneIn(10) {
				s["default"] = m.value(s, 2)
			}
			break
		}
	}
	return s
}

func (m maker) name() string { return pick(m, "a", "b", "c", "d", "e", "name", "replicas") }

func (m maker) listSchema(depth int) object {
	s := object{"type": "array"}
	m.maybe(s, 6, "minItems", m.IntN(3))
	m.maybe(s, 6, "maxItems", 1+m.IntN(3))
	switch m.IntN(4) {
	case 0:
		s["x-kubernetes-list-type"], s["items"] = "set", pick(m, object{"type": "string"}, object{"type": "integer"}, object{"type": "number"},
			object{"type": "object", "x-kubernetes-map-type": "atomic", "properties": object{"a": object{"type": "number"}}})
	case 1:
		items := m.objectSchema(depth - 1)
		delete(items, "additionalProperties")
		delete(items, "nullable")
		delete(items, "default")
		properties, _ := items["properties"].(object)
		if properties == nil {
			properties = object{}
		}
		keys := []any{"k"}
		properties["k"] = object{"type": pick(m, "string", "integer")}
		if m.oneIn(3) {
			keys = append(keys, "l")
			properties["l"] = object{"type": "string", "default": "x"}
		}
		items["properties"], items["required"] = properties, []any{"k"}
		s["x-kubernetes-list-type"], s["x-kubernetes-list-map-keys"], s["items"] = "map", keys, items
	default:
		s["items"] = m.node(depth - 1)
		m.maybe(s, 5, "x-kubernetes-list-type", "atomic")
	}
	m.rule(s, 8, pick(m, "size(self) < 3", "size(self) > 0"))
	return s
}

// addCombinator adds allOf, anyOf, oneOf or not to the schema s.
func (m maker) addCombinator(s object, depth int) {
	if s["x-kubernetes-int-or-string"] == true {
		return
	}
	how := pick(m, "allOf", "anyOf", "oneOf", "not")
	if how == "not" {
		s["not"] = m.restriction(s, depth)
		return
	}
	var all []any
	for range 1 + m.IntN(3) {
		all = append(all, m.restriction(s, depth))
	}
	s[how] = all
}

// restriction generates a schema that restricts the schema s. It contains no types, as Kubernetes requires within
// allOf, anyOf, oneOf and not.
func (m maker) restriction(s object, depth int) object {
	b := object{}
	switch s["type"] {
	case "string":
		m.textLimits(b)
	case "integer", "number":
		m.numberLimits(b)
	case "object":
		properties, _ := s["properties"].(object)
		within := object{}
		for _, name := range names(properties) {
			property := properties[name]
			if property := property.(object); m.oneIn(2) {
				within[name] = m.restriction(property, depth-1)
			}
		}
		if len(within) > 0 {
			b["properties"] = within
		}
		m.maybe(b, 2, "required", []any{m.name()})
		m.maybe(b, 4, "minProperties", m.IntN(3))
	case "array":
		m.maybe(b, 3, "maxItems", m.IntN(3))
		if items, ok := s["items"].(object); ok && m.oneIn(2) {
			b["items"] = m.restriction(items, depth-1)
		}
	}
	if m.oneIn(5) && depth > 0 {
		b[pick(m, "allOf", "anyOf", "oneOf")] = []any{m.restriction(s, depth-1), m.restriction(s, depth-1)}
	}
	return b
}
