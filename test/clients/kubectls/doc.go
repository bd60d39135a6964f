// Package kubectls migrates objects from client-side to server-side apply and back with kubectl of every minor
// version since 1.26, the first one that migrates field managers itself.
//
// `make kubectls` builds the programs from kubectl's modules, one for each of peers.Kubectls; versions that are not
// built are skipped. `make test-kubectls` runs the tests verbosely, with CADASTRE_TARGET=kube-apiserver against
// kube-apiserver. The scripts in testdata are run once per version:
//
//   - to_server_side.txtar: a field that is removed from the manifest after the migration is removed
//   - migrate_back.txtar: apply after migrating back to client-side apply
//   - bad_state.txtar: objects that both of kubectl's field managers own are repaired
//   - custom_resource.txtar: custom resources
package kubectls
