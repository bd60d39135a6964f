package structural

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// kinds is a set of JSON schema types.
type kinds uint8

const (
	object kinds = 1 << iota
	array
	text
	integer
	number
	boolean
	null
)

// kindNames are the names of the types in the order of their bits.
var kindNames = [...]string{"object", "array", "string", "integer", "number", "boolean", "null"}

// kindsNamed returns the set with the type of a name; empty if the name is unknown.
func kindsNamed(name string) kinds {
	if i := slices.Index(kindNames[:], name); i >= 0 {
		return 1 << i
	}
	return 0
}

// kindOf returns the type of a value as kube-apiserver decodes it: a number is an integer if it is written as one and
// fits in 64 bits.
func kindOf(v document.Value) kinds {
	switch v.Kind() {
	case document.Map:
		return object
	case document.List:
		return array
	case document.String:
		return text
	case document.Bool:
		return boolean
	case document.Number:
		if _, ok := v.Int64(); ok {
			return integer
		}
		return number
	}
	return null
}

// listType is the x-kubernetes-list-type of a list.
type listType uint8

const (
	atomicList listType = iota
	setList
	mapList
)

// none means that there is no limit.
const none = -1

// node is a schema object. The nodes that declare fields make up the spine: the root, and its descendants through
// fields, additional and items. The nodes below allOf, anyOf, oneOf and not only restrict values.
type node struct {
	// kinds are the allowed types; the empty set means any. typeName is their name in the schema.
	kinds    kinds
	typeName string
	nullable bool

	format   format
	enum     []document.Value
	numbers  *numberLimits
	texts    *textLimits
	minItems int
	maxItems int
	unique   bool
	minProps int
	maxProps int
	required []string

	allOf, anyOf, oneOf []*node
	not                 *node

	// fields are sorted by name. additional is the schema of undeclared fields. open reports whether additionalProperties
	// is present, closed whether it is false.
	fields     []property
	additional *node
	open       bool
	closed     bool
	items      *node

	preserve bool
	embedded bool
	list     listType
	keys     []string

	// defaultValue is the default in the schema, pruned; filledDefault also has the defaults of nested fields. Both are absent if
	// there is no default.
	defaultValue, filledDefault document.Value

	features feature
}

// property is a declared field.
type property struct {
	name string
	node *node
}

// feature is a set of schema features that apply to the values of a node or of its descendants. Walks skip nodes without
// the feature.
type feature uint8

const (
	defaults          feature = 1 << iota
	embeddedResources         // embedded resources
	uniqueItems               // lists of type set or map
	restrictions              // restrictions of values
	nonNullable               // types that are not nullable
)

// find returns a declared field by name; nil if there is none.
func (n *node) find(name string) *node {
	i, ok := slices.BinarySearchFunc(n.fields, name, func(p property, name string) int { return strings.Compare(p.name, name) })
	if !ok {
		return nil
	}
	return n.fields[i].node
}

// field returns the schema of a declared or additional field; nil if there is none.
func (n *node) field(name string) *node {
	if found := n.find(name); found != nil {
		return found
	}
	return n.additional
}

// child returns the schema of a field during a walk over sorted fields; next is the position among the declared fields.
func (n *node) child(name string, next *int) (child *node, declared bool) {
	for *next < len(n.fields) && n.fields[*next].name < name {
		*next++
	}
	if *next < len(n.fields) && n.fields[*next].name == name {
		return n.fields[*next].node, true
	}
	return n.additional, false
}

// has reports whether a feature applies to the node's values.
func (n *node) has(w feature) bool { return n != nil && n.features&w != 0 }

// hasCombinators reports whether the node has allOf, anyOf, oneOf or not.
func (n *node) hasCombinators() bool {
	return len(n.allOf)+len(n.anyOf)+len(n.oneOf) > 0 || n.not != nil
}

// forChildren calls do with the children of the node in the spine.
func (n *node) forChildren(do func(*node)) {
	for _, p := range n.fields {
		do(p.node)
	}
	if n.additional != nil {
		do(n.additional)
	}
	if n.items != nil {
		do(n.items)
	}
}

// findFeatures computes the features of the node and its descendants, and their filled defaults.
func (n *node) findFeatures() {
	n.forChildren(func(below *node) {
		below.findFeatures()
		n.features |= below.features
		if !below.filledDefault.IsAbsent() {
			n.features |= defaults
		}
		if !below.nullable {
			n.features |= nonNullable
		}
	})
	if n.embedded {
		n.features |= embeddedResources
	}
	if n.list != atomicList {
		n.features |= uniqueItems
	}
	if n.restricts() {
		n.features |= restrictions
	}
	for _, more := range [...][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, beside := range more {
			beside.findFeatures()
		}
	}
	if n.not != nil {
		n.not.findFeatures()
	}
	if !n.defaultValue.IsAbsent() {
		n.filledDefault = n.fill(n.defaultValue)
	}
}

// restricts reports whether the node itself restricts values.
func (n *node) restricts() bool {
	return n.kinds != 0 || n.format.name != "" || len(n.enum)+len(n.required) > 0 || n.numbers != nil || n.texts != nil ||
		n.minItems != none || n.maxItems != none || n.minProps != none || n.maxProps != none || n.unique || n.closed || n.hasCombinators()
}
