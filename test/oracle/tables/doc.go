// Package tables records the Tables of Kubernetes' printers and its negotiation of Accept headers for the unit tests
// of package encoding. It is a separate module because it depends on k8s.io/kubernetes.
//
// Run `make oracle-tables` after a change of the built-in kinds, of the cases in testdata/written.txt, or of the
// Kubernetes version in go.mod. The printers read the current time, so that everything runs in a testing/synctest
// bubble, whose clock has a fixed start.
//
// # Files
//
//	oracle_test.go  reads kinds and cases, and records their Tables
//	random_test.go  random objects with the fields that columns show
//	accept_test.go  Accept headers
//	custom_test.go  columns of custom resources
package tables
