// Package peers starts the real etcd and the real kube-apiserver on this machine, so that tests learn the
// right answer from them and benchmarks measure them beside us.
//
// The programs are built from their published Go modules by `make peers`, into a folder outside the
// repository (see [Folder]). The module in binaries/ pins the releases: Kubernetes 1.36.3 with the etcd
// that it is tested with. This package has no dependencies, so that every module can import it.
//
// Where to look:
//
//   - binaries.go: where the programs are, and how they are built
//   - kubectls.go: kubectl of many versions, each from its own modules; kubectl.txt is its main function
//   - controlplane.go: etcd and kube-apiserver together, from start to stop
//   - scheduler.go: kube-scheduler for any server
//   - certificates.go: the certificate authority, certificates and keys that they need
//   - process.go: one program that runs, its log, its end
//   - process_linux.go, process_other.go: that it ends when we do
//   - usage.go: processor time and memory of a process
package peers
