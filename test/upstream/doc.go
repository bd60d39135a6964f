// Package upstream runs Kubernetes' own integration tests of admission policies against Cadastre.
//
// The tests are those of test/integration/apiserver/cel in the module k8s.io/kubernetes that ../peers requires. They are compiled
// unchanged from the module cache, into the package in the folder cel. The packages of k8s.io/kubernetes that they import are
// replaced by the module in the folder kubernetes, which starts Cadastre instead of kube-apiserver. Nothing of Kubernetes is copied into
// this repository.
//
// testdata/results.txt has the result of each test. A test that sets flags that Cadastre does not have is skipped.
package upstream
