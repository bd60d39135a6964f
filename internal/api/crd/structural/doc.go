// Package structural implements structural schemas: pruning, defaulting and validation of custom resources with the
// OpenAPI schema of one version of a CustomResourceDefinition.
//
// kube-apiserver represents custom resources as Go maps, and walks them once for each feature of a schema. This package
// compiles the schema to a tree, walks documents with it, and visits only the parts that a feature applies to.
//
// # Vocabulary
//
//   - A [Type] is the compiled schema of one version. Its nodes are the schema objects. The spine is the set of nodes that
//     declare fields; the other nodes (below allOf, anyOf, oneOf, not) only restrict values.
//   - Decoding ([Type.Decode]) prunes unknown fields and nulls, and decodes metadata like the metadata of built-in kinds.
//     Defaulting ([Type.Default]) follows decoding.
//   - An embedded resource is an object inside an object (x-kubernetes-embedded-resource).
//   - A rule is a CEL expression (x-kubernetes-validations).
//   - Ratcheting ignores errors of values that an update does not change. It requires that the previous value can be found
//     in the old object, by field name or by the keys of a list of type map.
//
// # Fast path
//
// Nearly all objects are valid. Therefore node.accepts only reports whether there is an error, stops at the first error, and
// does not allocate memory. If there is an error, a reporter finds all errors and formats them like kube-apiserver. A test
// checks that both agree.
// Rules are evaluated by Kubernetes' CEL library, which requires Go maps; schemas without rules avoid the conversion.
//
// # Invariants
//
//   - Decoding and defaulting are idempotent.
//   - A document that needs no change is returned as the same Value, without allocations.
//   - {}, [] and zeros in the metadata of the request are retained, although encoding a Go struct would omit them.
//   - An unparsed part of a document is not changed.
//   - A Type retains no memory of the document that it was compiled from.
//   - Errors are sorted by field name, where kube-apiserver's order is random.
//
// # Where to look
//
//	type.go        Type and its compilation
//	node.go        nodes; load.go creates them from schema objects; format.go and numbers.go restrict strings and numbers
//	decode.go      decoding
//	default.go     defaulting
//	validate.go    validation, and the order of its steps
//	accept.go      the fast check of a value; equality.go, equality of values
//	report.go      the errors of a value; reportmore.go, the errors of allOf, anyOf, oneOf, not and numbers
//	previous.go    previous values, for ratcheting
//	lists.go       duplicate items of sets and maps; duplicates.go, the fast check for them
//	embedded.go    embedded resources
//	scale.go       the fields of the scale subresource
//	ruleset.go     CEL rules
//	warnings.go    warnings
//
// The module test/oracle compares this package with kube-apiserver's code.
package structural
