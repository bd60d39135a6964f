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

// kindNames are the names of the JSON schema types, in the order of the bits in kinds.
var kindNames = [...]string{"object", "array", "string", "integer", "number", "boolean", "null"}

// kindsNamed returns the set that contains the type with the given name; the empty set if the name is unknown.
func kindsNamed(name string) kinds {
	if i := slices.Index(kindNames[:], name); i >= 0 {
		return 1 << i
	}
	return 0
}

// kindOf returns the JSON schema type of a value as kube-apiserver decodes it: a number is an integer if it is written
// without fraction and exponent and fits in an int64.
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

// noLimit is the value of a size limit, such as maxItems, that the schema does not contain.
const noLimit = -1

// node is a compiled schema object. The nodes that declare fields form the spine: the root, and its descendants through
// fields, additional and items. The nodes below allOf, anyOf, oneOf and not only restrict values.
type node struct {
	// kinds are the allowed types; the empty set means any type. typeName is the name of the type in error messages.
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

	// fields are the properties of the schema, sorted by name. additional is the schema of fields that are not declared in
	// properties. open reports whether additionalProperties is present; closed reports whether it is false.
	fields     []property
	additional *node
	open       bool
	closed     bool
	items      *node

	preserve bool
	embedded bool
	list     listType
	keys     []string

	// defaultValue is the default in the schema, pruned. filledDefault is defaultValue with the defaults of the fields inside
	// it. Both are absent if the schema has no default.
	defaultValue, filledDefault document.Value
	filledSize                  int // size of filledDefault as JSON, in bytes

	features feature
}

// property is a field that a schema declares in properties.
type property struct {
	name string
	node *node
}

// feature is a set of schema features that the node or its descendants in the spine use. A walk over an object for one
// feature skips the values of nodes without the feature.
type feature uint8

const (
	defaults          feature = 1 << iota // default values
	embeddedResources                     // x-kubernetes-embedded-resource
	uniqueItems                           // lists of type set or map
	restrictions                          // keywords that restrict values, such as type and maxLength
	nonNullable                           // schemas that are not nullable
)

// declaredField returns the schema of the field with the given name in properties; nil if there is none.
func (n *node) declaredField(name string) *node {
	i, ok := slices.BinarySearchFunc(n.fields, name, func(p property, name string) int { return strings.Compare(p.name, name) })
	if !ok {
		return nil
	}
	return n.fields[i].node
}

// field returns the schema of the field with the given name, from properties or additionalProperties; nil if there is none.
func (n *node) field(name string) *node {
	if found := n.declaredField(name); found != nil {
		return found
	}
	return n.additional
}

// child returns the same schema as field. It is optimized for a walk over the fields of a map in the order of their names:
// *next is an index into n.fields, 0 at the start of the walk, which child advances. declared reports whether the field is in
// properties.
func (n *node) child(name string, next *int) (child *node, declared bool) {
	for *next < len(n.fields) && n.fields[*next].name < name {
		*next++
	}
	if *next < len(n.fields) && n.fields[*next].name == name {
		return n.fields[*next].node, true
	}
	return n.additional, false
}

// hasFeature reports whether the node or one of its descendants in the spine uses the feature w; false for a nil node.
func (n *node) hasFeature(w feature) bool { return n != nil && n.features&w != 0 }

// hasCombinators reports whether the node has allOf, anyOf, oneOf or not.
func (n *node) hasCombinators() bool {
	return len(n.allOf)+len(n.anyOf)+len(n.oneOf) > 0 || n.not != nil
}

// forChildren calls do with each child of the node in the spine.
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

// findFeatures sets features and filledDefault of the node and of its descendants.
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
		n.filledDefault = n.fillDefaults(n.defaultValue)
		n.filledSize = len(n.filledDefault.AppendJSON(nil))
	}
}

// restricts reports whether a keyword of the node itself, not of a descendant in the spine, restricts values.
func (n *node) restricts() bool {
	return n.kinds != 0 || n.format.name != "" || len(n.enum)+len(n.required) > 0 || n.numbers != nil || n.texts != nil ||
		n.minItems != noLimit || n.maxItems != noLimit || n.minProps != noLimit || n.maxProps != noLimit || n.unique || n.closed || n.hasCombinators()
}
