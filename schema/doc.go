// Package schema says how the parts of a kind merge.
//
// # Vocabulary
//
//   - The topology of a place is how it merges. A [Type] is a compiled topology.
//   - A Type has up to three alternatives: scalar, list and map. The value that is
//     found at a place decides which one counts there.
//   - A list is atomic (replaced as a whole), a set (of scalars, each its own), or
//     keyed (of maps, told apart by the values of their key fields).
//   - A map or struct is granular (each field is owned by itself) or atomic.
//     A struct has declared fields; a map has an element type for all others.
//   - [Untyped] is the topology of what nothing is declared about: it is deduced
//     from the value. [Opaque] is atomic all the way down.
//   - An override is what a reference says about the map or list that it refers
//     to, against what the type itself says.
//
// # Loaders
//
//	LoadOpenAPI   OpenAPI documents, version 2 and 3
//	LoadCRD       CustomResourceDefinitions
//	LoadTypes     the schema language of structured-merge-diff, used by client-go
//	FromGoType    Go types with json, patchStrategy and patchMergeKey tags
//
// A loader refuses a schema that it does not understand, at once and with all
// problems that it finds: an [Error] has the place in the schema, what was expected
// there, what was received, and what to do unless that is clear from what was
// expected. What it returns never fails later.
//
// # How a schema is compiled
//
// Each loader reads its syntax into drafts, which are types with open references.
// One linker closes the references, applies overrides, and finds the defaults of
// keys. The result is a graph of Types in which these hold:
//
//	a Type has at least one alternative
//	Map.Fields is sorted by name, and each name is there once
//	List.Keys is empty unless the list is Keyed, and then it is not empty
//	a Keyed list's items can be maps
//	Key.Default is the Default of the item's field of that name
//	no Default is null: null means that there is none
//	equal references to a named type are one pointer, also if they override it
//	Untyped and Opaque are one pointer each, however a schema spells them out
//
// Types may be cyclic. They keep nothing of the document that they were loaded
// from.
//
// # Extensions
//
// What an OpenAPI schema object says becomes:
//
//	type: object, with properties            struct; undeclared fields are refused
//	type: object, without                    map of Untyped
//	additionalProperties: a schema           map, or struct, with that element type
//	additionalProperties: true, false        element type Untyped, none
//	type: array                              atomic list
//	type: string                             string; any scalar if it has a format
//	                                         other than byte
//	type: integer, number, boolean           numeric, boolean
//	no type                                  all alternatives, with what the object
//	                                         says about each
//	$ref, or allOf with a single $ref        the type of that name
//	default                                  the default of the field, and of the
//	                                         key if the field is one
//
//	x-kubernetes-list-type: atomic           atomic list
//	x-kubernetes-list-type: set              set
//	x-kubernetes-list-type: map              keyed list
//	x-kubernetes-list-map-keys               its keys; none at all make it a set
//	x-kubernetes-map-type: granular, atomic  granular, atomic map or struct; beside
//	                                         a $ref: an override
//	x-kubernetes-preserve-unknown-fields     element type Untyped, here and in what
//	                                         is declared in place further inside
//	x-kubernetes-int-or-string               nothing: there is no type beside it
//	x-kubernetes-embedded-resource           in CRDs: fields apiVersion, kind and
//	                                         metadata, like a kind
//	x-kubernetes-group-version-kind          the kinds that have this root type
//
// Where a list has no list type (and is not in a CRD), its patch strategy counts,
// as KEP-555 has it; the Go tags patchStrategy and patchMergeKey are the same:
//
//	x-kubernetes-patch-strategy: merge             set
//	  with x-kubernetes-patch-merge-key            keyed list, by that key
//	x-kubernetes-patch-strategy: replace           atomic list
//	x-kubernetes-patch-strategy: retainKeys        changes nothing, also beside merge
//
// # Where to look
//
//	type.go, schema.go     what a schema is compiled to; lookup.go finds fields, fast
//	untyped.go             Untyped and Opaque
//	openapi.go, crd.go     the loaders of OpenAPI and CRDs; objectmeta.go is every CRD's metadata
//	  reader.go              schema objects, for both; extension.go, their extensions
//	smd.go                 the loader of structured-merge-diff's language
//	gotags.go              the loader of Go types; gofields.go finds the fields of their JSON
//	draft.go, link.go      what loaders make, and how it becomes Types
//	error.go               what is wrong with a schema, and where
package schema
