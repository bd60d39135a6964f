package structural

import (
	"slices"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// kinds is a set of the types that a schema knows.
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

// kindNames are the types in the order of their bits.
var kindNames = [...]string{"object", "array", "string", "integer", "number", "boolean", "null"}

// kindsNamed returns the set that has only the type of that name, or nothing.
func kindsNamed(name string) kinds {
	if i := slices.Index(kindNames[:], name); i >= 0 {
		return 1 << i
	}
	return 0
}

// kindOf returns the type of a value that is there, as upstream has it after decoding: a number is an
// integer if it is written as one and has 64 bits.
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

// listType is how the items of a list belong together.
type listType uint8

const (
	atomicList listType = iota
	setList
	mapList
)

// none stands for a limit that there is not.
const none = -1

// node is one schema object. Those that say which fields there are make up the spine: the root, and what is below
// it by fields, additional and items. Those below allOf, anyOf, oneOf and not only say more about values.
type node struct {
	// kinds are the types that a value may have; none at all stands for any. typeName is what the schema calls them.
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

	// fields are sorted by name. additional is the schema of all others. open says that additionalProperties is there,
	// closed that it is false.
	fields     []property
	additional *node
	open       bool
	closed     bool
	items      *node

	preserve bool
	embedded bool
	list     listType
	keys     []string

	// fallback is the default as it is written in the schema, pruned; filled also has the defaults of what is in it.
	// Both are absent if there is none.
	fallback, filled document.Value

	work work
}

// property is a field that a node declares.
type property struct {
	name string
	node *node
}

// work says what there is to be done in the values of a node, or somewhere below it. What there is not costs nothing.
type work uint8

const (
	defaults work = 1 << iota
	embeds        // resources in resources
	uniques       // lists that are sets or maps
	checks        // anything that a value may be refused for
	nulls         // nulls that may have to go
)

// find returns the declared field of that name.
func (n *node) find(name string) *node {
	i, ok := slices.BinarySearchFunc(n.fields, name, func(p property, name string) int { return strings.Compare(p.name, name) })
	if !ok {
		return nil
	}
	return n.fields[i].node
}

// field returns the schema of a field, declared or not; nil if nothing is said about it.
func (n *node) field(name string) *node {
	if found := n.find(name); found != nil {
		return found
	}
	return n.additional
}

// child returns the schema of a field for a walk that meets the fields in their order; next is where the walk is
// among the declared ones.
func (n *node) child(name string, next *int) (child *node, declared bool) {
	for *next < len(n.fields) && n.fields[*next].name < name {
		*next++
	}
	if *next < len(n.fields) && n.fields[*next].name == name {
		return n.fields[*next].node, true
	}
	return n.additional, false
}

// has tells whether there is work of that sort in the node's values.
func (n *node) has(w work) bool { return n != nil && n.work&w != 0 }

// saysMore tells whether there are schemas that a value must or must not match as well.
func (n *node) saysMore() bool {
	return len(n.allOf)+len(n.anyOf)+len(n.oneOf) > 0 || n.not != nil
}

// inside iterates over the nodes of the spine directly below this one.
func (n *node) inside(do func(*node)) {
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

// settle finds out what work there is.
func (n *node) settle() {
	n.inside(func(below *node) {
		below.settle()
		n.work |= below.work
		if !below.filled.IsAbsent() {
			n.work |= defaults
		}
		if !below.nullable {
			n.work |= nulls
		}
	})
	if n.embedded {
		n.work |= embeds
	}
	if n.list != atomicList {
		n.work |= uniques
	}
	if n.refuses() {
		n.work |= checks
	}
	for _, more := range [...][]*node{n.allOf, n.anyOf, n.oneOf} {
		for _, beside := range more {
			beside.settle()
		}
	}
	if n.not != nil {
		n.not.settle()
	}
	if !n.fallback.IsAbsent() {
		n.filled = n.fill(n.fallback)
	}
}

// refuses tells whether the node itself says something that a value may be refused for.
func (n *node) refuses() bool {
	return n.kinds != 0 || n.format.name != "" || len(n.enum)+len(n.required) > 0 || n.numbers != nil || n.texts != nil ||
		n.minItems != none || n.maxItems != none || n.minProps != none || n.maxProps != none || n.unique || n.closed || n.saysMore()
}
