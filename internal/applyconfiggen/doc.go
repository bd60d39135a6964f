// Package applyconfiggen generates apply configurations: structs of pointers with builders, as those of client-go's
// applyconfigurations, plus Unset functions that declare the absence of fields, map entries and list items (KEP-5051).
//
// A source is read into packages of types (ir.go), which write.go prints. The three sources are Go packages with the
// types of an API and Kubernetes' markers, CustomResourceDefinitions, and OpenAPI documents. Output is formatted and does
// not depend on the order of the input. It imports package applyruntime and, if the source is Go, the API's packages.
//
// Schemas may be hostile: names that cannot be part of Go source or of a path are errors.
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
