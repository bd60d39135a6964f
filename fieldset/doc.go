// Package fieldset implements paths, sets of paths, and FieldsV1, the JSON encoding of such sets in managedFields.
//
//	owned, err := fieldset.ParseFieldsV1(`{"f:spec":{"f:image":{},"f:replicas":{}}}`)
//	if err != nil {
//		return err // a *fieldset.SyntaxError
//	}
//	applied := fieldset.New(fieldset.Names("spec", "image"))
//	fmt.Print(owned.Difference(applied)) // .spec.replicas
//
// This is the package example; example_test.go contains more.
//
// # Terms
//
// A path [Element] selects a child of a container: a field by its name, an item of a list of type map by its keys, an
// item of a list of type set by its value, or any list item by its index. A [Path] is a sequence of elements. A [Set]
// is a set of paths. Membership of a path implies nothing about the paths above or below it: .spec may be a member
// while .spec.image is not, and vice versa.
//
// Elements and paths are ordered as Kubernetes orders them, so that FieldsV1 is written byte for byte as
// kube-apiserver writes it. differences_test.go lists the deliberate differences from structured-merge-diff.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/fieldset.txt. FieldsV1 and the
// notation of paths are stable. The texts of errors may change in any release.
//
// Concurrency: elements and sets are immutable and safe for concurrent use, and so are all functions.
//
// Memory: a parsed set keeps its text in memory, and the result of an operation shares the unchanged parts of its
// operands. The caller owns the paths that it passes to [New]; the paths that [Set.All] yields are valid only until the
// next iteration.
package fieldset

// Files:
//
//	element.go, path.go      elements and paths, and the parser of .spec.ports[port=80]
//	set.go, algebra.go       sets, a builder of sets bottom up, and their algebra
//	fieldsv1.go, reader.go   FieldsV1 output and input; spelling.go orders elements by their spelling
//	query.go                 intersection of FieldsV1 text with a set, without decoding all of the text
//	textdifference.go        difference of two FieldsV1 texts, without decoding their common parts
//	error.go                 SyntaxError
//	internals.go             operations on unexported parts for internal/lib/fastset
//
// A Set is a tree of nodes, one level per path element. The children of a node are sorted by their element, so that
// every operation is a join of two sorted lists and FieldsV1 is read and written in one pass. Invariants of every node
// below the root:
//
//	node.member || len(node.children) > 0            a node is a path or leads to one
//	children[i].element < children[i+1].element      sorted, each element once
//
// An element is stored as FieldsV1 spells it, and equal elements have the same spelling:
//
//	a == b  if and only if  a.Compare(b) == 0
