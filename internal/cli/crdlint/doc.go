// Package crdlint finds the list types and map types of CustomResourceDefinitions because of which appliers overwrite
// each other's fields or conflict.
//
// [Rejections] runs the validation of the server. [Lint] reads one definition, without a server. It visits the schema of every served version and applies the rules of
// rules.go to each list and map. A topology of one version that another version does not have is reported as well,
// because ownership cannot be carried over between the two.
//
// # Files
//
//	lint.go     Lint and the findings
//	walk.go     the visit of a schema
//	rules.go    the rules of single schema objects
//	keys.go     the choice of list keys for a suggested fix
//	versions.go the comparison of versions
//	rejected.go the errors with which kube-apiserver rejects a definition
package crdlint
