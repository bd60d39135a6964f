// Package schema loads the topology of kinds, which determines how their fields merge: which lists and maps are atomic,
// and which fields identify the items of other lists.
//
//	types, err := schema.LoadCRD(definition) // map from version to type
//	if err != nil {
//		return err // all problems, each with its path in the schema
//	}
//	spec, declared := types["v1"].Map.TypeOf("spec")
//
// The package example runs this code; example_test.go contains an example for each loader.
//
// # Loaders
//
//	LoadOpenAPI   OpenAPI documents, version 2 and 3
//	LoadCRD       CustomResourceDefinitions
//	LoadTypes     the schema language of structured-merge-diff, used by client-go
//	FromGoType    Go types with json, patchStrategy and patchMergeKey tags
//
// A loader rejects a schema that it does not support and returns all problems that it finds. docs/schema.md lists the
// meaning of OpenAPI keywords and x-kubernetes extensions.
//
// # Types
//
// A [Type] is a compiled topology. It has an alternative for each shape of value that it accepts: scalar, list and map.
// The value of a field decides which alternative applies. A list is atomic, a set or keyed (list type map). A map is granular or atomic; it has
// declared fields, an element type for all other fields, or both. [Untyped] is the topology of a field without a
// schema: it is deduced from the value. [Opaque] is atomic at every level.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/schema.txt. The texts of errors may
// change in any release.
//
// Concurrency: types and schemas are immutable after loading and safe for concurrent use. The caller must not modify
// them.
//
// Memory: types do not keep the document that they were loaded from in memory. They are compared by pointer, and may be
// cyclic.
package schema

// Files:
//
//	type.go, schema.go     the compiled types; lookup.go finds fields by name
//	untyped.go             Untyped and Opaque
//	openapi.go, crd.go     the loaders of OpenAPI and CRDs; objectmeta.go declares the metadata of every CRD
//	  reader.go              schema objects of both; extension.go reads their x-kubernetes extensions
//	smd.go                 the loader of structured-merge-diff's schema language
//	gotags.go              the loader of Go types; gofields.go determines their JSON fields
//	unlinked.go, link.go   types with unresolved references, and their conversion to Types
//	error.go               errors with their path in the schema
//
// Each loader parses its syntax into unlinkedTypes, which have unresolved references. One linker resolves the references,
// applies overrides (a reference may declare another relationship for the map or list that it refers to), and assigns
// the defaults of keys. Invariants of the result:
//
//	a Type has at least one alternative
//	Map.Fields is sorted by name, and the names are unique
//	List.Keys is not empty if the list is Keyed, and empty otherwise
//	the items of a Keyed list have a map alternative
//	Key.Default is the Default of the item's field with that name
//	no Default is null, because Kubernetes treats a null default as no default
//	references to a named type with the same override are one pointer
//	every type that is equivalent to Untyped or Opaque is that pointer
