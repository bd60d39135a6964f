// Package schema loads how the fields of a kind merge, their topology: which lists and maps are atomic, and how the items
// of other lists are identified.
//
//	types, err := schema.LoadCRD(definition) // by version
//	if err != nil {
//		return err // every problem, with its place in the schema
//	}
//	spec, declared := types["v1"].Map.TypeOf("spec")
//
// The package example runs this; example_test.go has one for each loader.
//
// # Loaders
//
//	LoadOpenAPI   OpenAPI documents, version 2 and 3
//	LoadCRD       CustomResourceDefinitions
//	LoadTypes     the schema language of structured-merge-diff, used by client-go
//	FromGoType    Go types with json, patchStrategy and patchMergeKey tags
//
// A loader rejects a schema that it does not understand, with all problems that it finds. docs/schema.md lists how
// OpenAPI keywords and x-kubernetes extensions are read.
//
// # Types
//
// A [Type] is a compiled topology with up to three alternatives: scalar, list and map. The value of a field decides which
// one applies. A list is atomic, a set or keyed (list type map). A map is granular or atomic; it has declared fields, an
// element type for all other fields, or both. [Untyped] is the topology of a field without a schema: it follows from the
// value. [Opaque] is atomic all the way down.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/schema.txt. The texts of errors may
// change in any release.
//
// Concurrency: types and schemas are immutable after loading and safe for concurrent use. The caller must not modify
// them.
//
// Memory: types do not keep the document alive that they were loaded from. They are compared by pointer, and may be
// cyclic.
package schema

// Files:
//
//	type.go, schema.go     what a schema is compiled to; lookup.go finds fields, fast
//	untyped.go             Untyped and Opaque
//	openapi.go, crd.go     the loaders of OpenAPI and CRDs; objectmeta.go is every CRD's metadata
//	  reader.go              schema objects, for both; extension.go, their extensions
//	smd.go                 the loader of structured-merge-diff's language
//	gotags.go              the loader of Go types; gofields.go finds the fields of their JSON
//	draft.go, link.go      what loaders make, and how it becomes Types
//	error.go               what is wrong with a schema, and where
//
// Each loader parses its syntax into drafts, which are types with open references. One linker resolves the references,
// applies overrides (what a reference declares about the map or list that it refers to), and finds the defaults of keys.
// Invariants of the result:
//
//	a Type has at least one alternative
//	Map.Fields is sorted by name, and each name is there once
//	List.Keys is empty unless the list is Keyed, and then it is not empty
//	a Keyed list's items can be maps
//	Key.Default is the Default of the item's field of that name
//	no Default is null: null means that there is none
//	equal references to a named type are one pointer, also if they override it
//	Untyped and Opaque are one pointer each, however a schema spells them out
