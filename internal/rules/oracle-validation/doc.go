// Package oracle compares our validation with that of kube-apiserver.
//
// It is a module of its own, for it needs k8s.io/kubernetes. It takes the objects in
// ../testdata/validation/objects, spoils them in every way that it can think of, asks
// kube-apiserver's strategies and our rules, and compares the errors. With -update it writes what
// kube-apiserver said to ../testdata/validation/verdicts.txt.gz, which the tests of package rules
// replay.
//
// # Where to look
//
//	strategies.go    kube-apiserver's strategies, by kind
//	upstream.go      how they are asked
//	spoil.go         what is done to the objects
package oracle
