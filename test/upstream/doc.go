// Package upstream runs Kubernetes' own tests of admission policies against Cadastre.
//
// The tests are compiled from the module cache, from the modules that ../peers/binaries requires; nothing of Kubernetes is copied into
// this repository. The packages that they import to start kube-apiserver, or whose code they test, are replaced:
//
//	cel        test/integration/apiserver/cel of k8s.io/kubernetes, unchanged. The module in the folder kubernetes replaces
//	           k8s.io/kubernetes: it starts Cadastre.
//	mutating   unit tests of k8s.io/apiserver/pkg/admission/plugin/policy/mutating. The packages mutating, patch and equality replace
//	patch      Kubernetes': they evaluate a policy with a running server, by package policyserver, and compare objects with defaults.
//
// testdata/results.txt has the result of each test. A test that sets flags that Cadastre lacks is skipped. The other unit tests of these
// packages test internal data structures of Kubernetes, and are not compiled.
package upstream
