// Package fieldset knows which fields: paths, sets of paths, and the form in which
// Kubernetes writes them, FieldsV1.
//
// # Vocabulary
//
//   - A path element selects one child of a container: a field by its name, an
//     item of a keyed list by the values of its keys, an item of a set by its
//     value, or an item of a list by its index.
//   - A path is a sequence of path elements. It says where a field is.
//   - A field set, here a [Set], is a set of paths. A path in a set says nothing
//     about the paths above or below it: .spec may be a member while .spec.image
//     is not, and the other way round.
//   - FieldsV1 is a set as JSON, a tree of path elements.
//
// # How a set is arranged
//
// A [Set] is a tree that follows the paths. The children of a node are sorted by
// their element, in the order of [Element.Compare], so that every operation of the
// algebra is a join of two sorted lists, and so that FieldsV1 is read and written
// in one pass. Sets are immutable: operations share what they do not change.
//
// Invariants, for every node below the root:
//
//	node.member || len(node.kids) > 0       no node is there for nothing
//	kids[i].element < kids[i+1].element     sorted, each element once
//
// An element is kept as FieldsV1 spells it, and equal elements are spelled the same:
//
//	a == b  if and only if  a.Compare(b) == 0
//
// # Where to look
//
//	element.go, path.go      elements and paths; pathreader.go reads .spec.ports[port=80]
//	set.go, algebra.go       sets; builder.go makes them bottom up
//	fieldsv1.go, reader.go   FieldsV1 out and in; elementreader.go and spelling.go do the names
//	error.go                 why a path or a set could not be read
//	writer.go                FieldsV1 without a set, written piece by piece
//	follow.go, lacking.go    FieldsV1 without a set, searched for paths and compared; arena.go
//
// # For engines, unchecked
//
// [Builder], [Writer], [SpelledElement], [AppendKeyField], [AppendValue], [Common],
// [Lacking] and [Arena] are for engines that make or ask many sets a second. They do
// not check what they are given: elements out of order, spellings that Kubernetes
// would not write, or a text that is no FieldsV1 make a set that is wrong without
// saying so. All else checks, and is the better choice wherever time does not matter.
//
// Where this package differs from structured-merge-diff on purpose, a test in
// differences_test.go says so.
package fieldset
