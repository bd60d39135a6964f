// Package target is the server that the real clients of this module are tried on.
//
// The environment variable CADASTRE_TARGET says which:
//
//   - cadastre: ours, in this process. This is the default.
//   - kube-apiserver: the real one, from package peers. This is how the tests' expectations are proved.
//   - kube-apiserver:FILE or cadastre:FILE: one that runs already, by its kubeconfig.
//
// A package of tests shares one server, and every test and script has a namespace of its own in it. No
// controller runs, as in a test environment: nothing schedules pods or collects garbage.
//
// Where to look:
//
//   - target.go: which server, its start and its end
//   - both.go: the real server and ours, for commands that compare them
//   - namespace.go: a place of its own for every test
//   - kubeconfig.go: the server's address and credentials in a file
//   - spoken.go: in which media a server answers
package target
