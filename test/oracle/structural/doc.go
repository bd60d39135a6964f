// Package structural compares structural with the code that kube-apiserver runs on custom resources: random schemas, random
// objects, random updates. It is a module of its own, since that code needs much that the product does not.
//
// Run it with `make oracle-structural`; ORACLE='-seed 7 -schemas 5000' passes flags. A schema that kube-apiserver would
// refuse is not tried.
//
// # Where to look
//
//	oracle_test.go    what kube-apiserver does with a schema and with objects
//	random_test.go    random schemas, and objects that nearly match them
//	compare_test.go   the comparison
//	topology_test.go  how objects merge
//	bench_test.go     how long both take with objects of well-known projects
package structural
