// Package peers starts etcd and kube-apiserver on this machine, as the reference of tests and benchmarks.
//
// `make peers` builds the programs from their published Go modules into a folder outside of the repository (see
// [Folder]). The module in binaries/ requires the releases: Kubernetes 1.37.1 with the etcd that it is tested with.
// This package has no dependencies, so that every module can import it.
//
// Files:
//
//   - binaries.go: folder and build of the programs
//   - kubectls.go: kubectl of many versions, each from its own modules; kubectl.txt is its main function
//   - controlplane.go: starts and stops etcd and kube-apiserver
//   - scheduler.go: starts kube-scheduler for any server
//   - certificates.go: certificate authority, certificates and keys
//   - process.go: a running program and its log
//   - process_linux.go, process_other.go: kills the program when the test process dies
//   - usage.go: CPU time and memory of a process
package peers
