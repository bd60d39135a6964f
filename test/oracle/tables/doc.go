// Package tables asks Kubernetes what tables look like and what Accept headers mean, and writes it
// down for the tests of codec, which can't afford to ask: k8s.io/kubernetes is large. It is a module
// of its own.
//
// Run `make oracle-tables` after a change of the built-in kinds, of the cases in
// testdata/written.txt, or of the version of Kubernetes in go.mod. The printers ask for the time, so
// everything happens in a bubble of testing/synctest, whose clock starts at the same time whenever
// it is run.
//
// # Where to look
//
//	oracle_test.go  reads kinds and cases, asks, writes
//	random_test.go  makes random objects of the fields that columns show
//	accept_test.go  does the same for Accept headers
//	custom_test.go  and for columns of custom resources
package tables
