// Package structural knows the values of custom resources: what the OpenAPI schema of one version of a
// CustomResourceDefinition says about them.
//
// kube-apiserver keeps custom resources as Go's maps, and walks them once for each thing that a schema can say. We
// compile the schema to a tree that documents are walked with, and go only where there is something to do.
//
// # Vocabulary
//
//   - A [Type] is one version's schema, compiled. Its nodes are the schema objects. The spine is those that say which
//     fields there are; the others are beside it (allOf, anyOf, oneOf, not) and only restrict values.
//   - Reading ([Type.Read]) is what decoding does: fields that are unknown are pruned, and so are nulls; metadata is
//     read as that of every object. Defaulting ([Type.Default]) comes after it.
//   - A resource in an object is embedded (x-kubernetes-embedded-resource).
//   - A rule is an expression in CEL (x-kubernetes-validations).
//   - What is wrong with a value that was the same before is forgiven: ratcheting. What a value was before is known
//     where fields, or the items of lists that are maps, can be found in the old object.
//
// # Fast and plain
//
// Nearly all objects are right. So node.accepts only tells whether something is wrong, allocates nothing, and
// stops at once; a reporter then finds out what it is, in kube-apiserver's words. The two must agree, and a test says
// so. Rules are followed by Kubernetes' library, which wants Go's maps; schemas without rules never come near it.
//
// # Invariants
//
//   - Reading or defaulting again what was read or defaulted changes nothing.
//   - Where there is nothing to do the same Value comes back, and nothing is allocated.
//   - {}, [] and zeros that the client sent in metadata stay, although Go would drop them.
//   - A sealed part is left as it is.
//   - A Type keeps nothing of the document that it was compiled from.
//   - Errors come in the order of names, where kube-apiserver has them in any order.
//
// # Where to look
//
//	type.go        Type, and how it is compiled
//	node.go        nodes; load.go makes them of schema objects; format.go and numbers.go have what they say of scalars
//	read.go        reading
//	default.go     defaulting
//	validate.go    what is checked, and in which order
//	accept.go      whether a value is right by the schema; same.go, which values are the same
//	report.go      what is wrong with it; reportmore.go has the schemas beside the spine, and numbers
//	before.go      what a value was before an update
//	lists.go       items that are twice in a set or map; repeat.go tells whether there may be such
//	embedded.go    resources in objects
//	scale.go       what the scale subresource shows
//	ruleset.go     rules in CEL
//	warnings.go    what clients should know
//
// Package oracle, which is a module of its own, compares all of it with kube-apiserver's code.
package structural
