// Package bench compares the apply engine with structured-merge-diff, strategic merge patches with apimachinery's
// strategicpatch, and both with the floor: the same work, from bytes to bytes, in one run.
//
//	engine.go     interface of an engine, from bytes to bytes; the peer's adapter
//	cadastre.go   our adapter
//	case.go       cases: every object with every operation
//	side.go       the work of each side for a case
//	patch.go      cases and sides of strategic merge patches
//	measure.go    time and allocations, with the sides taking turns
//
// Our side and the floor reuse buffers between calls, as their APIs permit; the peer has no such API and allocates
// new values for every document.
//
// The objects are in fixture, the peer in smd, the JSON libraries in floor. `make bench-engine` runs cmd/engine,
// which prints the tables.
//
// storebench compares the store with etcd; `make bench-store` runs cmd/store. serverbench compares the server with
// kube-apiserver and with a floor for servers; `make bench-server` runs cmd/server. cmd/optout measures responses
// without managedFields; `make bench-optout` runs it.
//
// stat has figures and goals, proc the resource usage of processes.
package bench
