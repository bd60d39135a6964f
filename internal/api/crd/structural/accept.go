package structural

import (
	"unicode/utf8"

	"github.com/go-openapi/swag/conv"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fastdoc"
)

// accepts reports whether v conforms to the schema. It stops at the first error and does not allocate memory. If accepts
// returns false, a [reporter] for the same value must find at least one error.
func (n *node) accepts(v document.Value) bool {
	if v.IsNull() {
		return len(n.enum) == 0 && n.acceptsNull()
	}
	kind := kindOf(v)
	if !n.acceptsKind(kind, v) || len(n.enum) > 0 && !n.enumerates(v) {
		return false
	}
	switch kind {
	case text:
		if !n.acceptsText(v.Text()) {
			return false
		}
	case integer, number:
		if n.numbers != nil && !n.numbers.accepts(quantityOf(v)) {
			return false
		}
	case array:
		if !n.acceptsItems(v) {
			return false
		}
	case object:
		if !n.acceptsFields(v) {
			return false
		}
	}
	return !n.hasCombinators() || n.acceptsCombinators(v)
}

func (n *node) acceptsNull() bool { return n.kinds == 0 || n.kinds&null != 0 || n.nullable }

// acceptsKind reports whether v, which is not null and whose type is kind, has a type that the schema allows. As in
// kube-apiserver, a schema of type string with a format also accepts a list.
func (n *node) acceptsKind(kind kinds, v document.Value) bool {
	if n.kinds&kind != 0 || n.kinds == 0 && n.format.name == "" {
		return true
	}
	if n.format.name != "" && kind&(text|array) != 0 && n.kinds&(number|integer) == 0 {
		return true
	}
	switch kind {
	case integer:
		return n.kinds&number != 0
	case number:
		f, _ := v.Float64()
		return n.kinds&integer != 0 && conv.IsFloat64AJSONInteger(f)
	}
	return false
}

func (n *node) acceptsText(s string) bool {
	if l := n.texts; l != nil {
		if l.minLength != noLimit || l.maxLength != noLimit {
			length := utf8.RuneCountInString(s)
			if l.maxLength != noLimit && length > l.maxLength || l.minLength != noLimit && length < l.minLength {
				return false
			}
		}
		if l.patternErr != nil || l.pattern != nil && !l.pattern.MatchString(s) {
			return false
		}
	}
	return n.format.accepts == nil || n.format.accepts(s)
}

func (n *node) acceptsItems(v document.Value) bool {
	if fastdoc.IsUnparsed(v) {
		return true
	}
	count := v.Len()
	if n.minItems != noLimit && count < n.minItems || n.maxItems != noLimit && count > n.maxItems || n.unique && hasDuplicates(v) {
		return false
	}
	if !n.items.hasFeature(restrictions) {
		return true
	}
	for i := range count {
		if !n.items.accepts(v.At(i)) {
			return false
		}
	}
	return true
}

func (n *node) acceptsFields(v document.Value) bool {
	if fastdoc.IsUnparsed(v) {
		return true
	}
	count := v.Len()
	if n.minProps != noLimit && count < n.minProps || n.maxProps != noLimit && count > n.maxProps {
		return false
	}
	for _, name := range n.required {
		if _, found := v.Find(name); !found {
			return false
		}
	}
	if len(n.fields) == 0 && !n.closed && !n.additional.hasFeature(restrictions) {
		return true
	}
	next := 0
	for i := range count {
		name, value := v.Field(i)
		child, declared := n.child(name, &next)
		if n.closed && !declared || child.hasFeature(restrictions) && !child.accepts(value) {
			return false
		}
	}
	return true
}

// acceptsCombinators reports whether v satisfies the allOf, anyOf, oneOf and not of the schema.
func (n *node) acceptsCombinators(v document.Value) bool {
	for _, all := range n.allOf {
		if !all.accepts(v) {
			return false
		}
	}
	if len(n.anyOf) > 0 && countAccepting(n.anyOf, v, 1) == 0 || len(n.oneOf) > 0 && countAccepting(n.oneOf, v, 2) != 1 {
		return false
	}
	return n.not == nil || !n.not.accepts(v)
}

// countAccepting returns the number of nodes that accept v, or limit if more nodes accept it.
func countAccepting(nodes []*node, v document.Value, limit int) (accepted int) {
	for _, n := range nodes {
		if n.accepts(v) {
			if accepted++; accepted == limit {
				break
			}
		}
	}
	return accepted
}
