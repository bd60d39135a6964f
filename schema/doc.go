// Package schema loads the topology of kinds, which determines how their fields merge: which lists and maps are atomic,
// and which fields identify the items of other lists.
//
//	types, err := schema.LoadCRD(definition) // by version
//	if err != nil {
//		return err // all problems, each with its path in the schema
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
// A loader rejects a schema that it does not support and returns all problems that it finds. docs/schema.md lists the
// meaning of OpenAPI keywords and x-kubernetes extensions.
//
// # Types
//
// A [Type] is a compiled topology with up to three alternatives: scalar, list and map. The value of a field decides
// which alternative applies. A list is atomic, a set or keyed (list type map). A map is granular or atomic; it has
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
//	openapi.go, crd.go     the loaders of OpenAPI and CRDs; objectmeta.go is every CRD's metadata
//	  reader.go              schema objects, for both; extension.go, their extensions
//	smd.go                 the loader of structured-merge-diff's schema language
//	gotags.go              the loader of Go types; gofields.go determines their JSON fields
//	draft.go, link.go      the intermediate form of types, and its conversion to Types
//	error.go               errors with their path in the schema
//
// Each loader parses its syntax into drafts, which are types with unresolved references. One linker resolves the
// references, applies overrides (the relationship that a reference declares for the map or list that it refers to), and
// assigns the defaults of keys. Invariants of the result:
//
//	a Type has at least one alternative
//	Map.Fields is sorted by name, and the names are unique
//	List.Keys is not empty if the list is Keyed, and empty otherwise
//	a Keyed list's items can be maps
//	Key.Default is the Default of the item's field with that name
//	no Default is null: a null default means that there is none
//	equal references to a named type are one pointer, also if they override it
//	Untyped and Opaque are one pointer each, for every spelling in a schema
