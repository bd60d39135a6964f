// Package kubectls has kubectl of every minor version since 1.26, unmodified, go from client-side to server-side
// apply and back. The first of them migrated owners by itself.
//
// The programs are built from kubectl's modules by `make kubectls`, one for each of peers.Kubectls; a version that is
// not built is skipped. `make test-kubectls` tells of each, and with CADASTRE_TARGET=kube-apiserver asks the real
// server the same. The scripts in testdata are run once for each version:
//
//   - to_server_side.txtar: what is left out after the change is gone
//   - and_back.txtar: so it is after going back
//   - bad_state.txtar: objects that both of kubectl's managers own get out of that
//   - custom_resource.txtar: custom resources are changed, too
package kubectls
