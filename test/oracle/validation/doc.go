// Package oracle compares Cadastre's validation with that of kube-apiserver.
//
// It is a separate module because it depends on k8s.io/kubernetes. It modifies the objects in
// internal/api/builtin/testdata/validation/objects systematically, and as listed in
// internal/api/builtin/testdata/validation/changes.txt, and validates the results with kube-apiserver's strategies.
// With -update it records the results in internal/api/builtin/testdata/validation/verdicts.txt.gz, which the unit
// tests of internal/api/builtin replay. It also modifies objects at two paths, and compares the results with Cadastre's
// validation: see -pairs and -seed. The same is done with the statuses of the objects in
// internal/api/builtin/testdata/validation/statuses.
//
// # Files
//
//	strategies.go    kube-apiserver's strategies by kind
//	statuses.go      strategies of the status subresource
//	subresources_test.go   strategies of other subresources
//	warnings.go      warnings of strategies
//	upstream.go      runs strategies
//	changes.go       modifications of objects
package oracle
