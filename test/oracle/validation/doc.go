// Package oracle compares our validation with that of kube-apiserver.
//
// It is a module of its own, for it needs k8s.io/kubernetes. It takes the objects in
// internal/api/builtin/testdata/validation/objects, spoils them in every way that it can think of, and in those that
// internal/api/builtin/testdata/validation/changes.txt lists, and asks kube-apiserver's strategies. With -update it
// writes what they said to internal/api/builtin/testdata/validation/verdicts.txt.gz, which the tests of package rules
// replay. It also changes objects in two places, and asks our rules as well: see -pairs and -seed. The same is done
// to the statuses of the objects in internal/api/builtin/testdata/validation/statuses, with another file of verdicts.
//
// # Where to look
//
//	strategies.go    kube-apiserver's strategies, by kind
//	statuses.go      those of writes to the status
//	subresources_test.go   those of other subresources
//	warnings.go      what they tell clients
//	upstream.go      how they are asked
//	spoil.go         what is done to the objects
package oracle
