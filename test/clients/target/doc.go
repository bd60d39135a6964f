// Package target provides the server that the clients of this module are tested with.
//
// The environment variable CADASTRE_TARGET selects it:
//
//   - cadastre: Cadastre, in this process. This is the default.
//   - kube-apiserver: kube-apiserver, from package peers. It proves the expectations of the tests.
//   - kube-apiserver:FILE or cadastre:FILE: a running server, by its kubeconfig.
//
// The tests of a package share one server; every test and script has its own namespace. No pods are scheduled.
//
// Files:
//
//   - target.go: selects, starts and stops the server
//   - both.go: both servers, for commands that compare them
//   - namespace.go: a namespace per test
//   - kubeconfig.go: writes a kubeconfig
//   - mediarecorder.go: records the media types of responses
package target
