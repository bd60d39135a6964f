// Package structural compares internal/api/crd/structural with kube-apiserver's code for custom resources, on random
// schemas, objects and updates. It is a separate module because of the dependencies of that code.
//
// Run it with `make oracle-structural`; ORACLE='-seed 7 -schemas 5000' passes flags. Schemas that kube-apiserver
// rejects are skipped.
//
// # Files
//
//	oracle_test.go    calls kube-apiserver's decoding and validation
//	random_test.go    random schemas; objects_test.go, objects that nearly match them
//	compare_test.go   the comparison
//	bench_test.go     benchmarks of both implementations with objects of the Gateway API
package structural
