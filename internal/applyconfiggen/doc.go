// Package applyconfiggen generates apply configurations: structs with pointer fields and With functions, like
// client-go's applyconfigurations, and in addition Unset functions, which add unset markers for fields, map entries and
// list items (KEP-5051).
//
// A source is converted to an intermediate representation (ir.go), which write.go prints. The three sources are Go packages
// with API types and Kubernetes' markers, CustomResourceDefinitions, and OpenAPI documents. The output is formatted and
// does not depend on the order of the input. It imports package applyruntime and, if the source is Go, the packages of the
// API types.
//
// Schemas may be hostile: a name that cannot be part of Go source or of a path is an error.
//
// # Files
//
//	generate.go   Generate and Write
//	ir.go         packages, types and fields
//	gosource.go, gotopology.go, markers.go    Go packages
//	schema.go     schema objects; crd.go, CustomResourceDefinitions; openapi.go, OpenAPI documents
//	meta.go       metadata of kinds without Go types
//	names.go      Go names of properties
//	write.go      structs, constructors and Extract functions; methods.go, builders
package applyconfiggen
