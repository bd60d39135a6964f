// Package bench compares the apply engine with structured-merge-diff, strategic merge patches with apimachinery's
// strategicpatch, and both with a lower bound: only parsing the inputs and writing the output. All do the same work, from
// bytes to bytes, in one run.
//
//	engine.go          Engine, from bytes to bytes; the adapter of structured-merge-diff
//	cadastre.go        the adapter of Cadastre's engine
//	case.go            cases: every object with every operation
//	implementation.go  the work of each implementation for a case
//	patch.go           cases of strategic merge patches, and the work of each implementation
//	measure.go         time and allocations; the implementations take turns
//
// Cadastre and the lower bound reuse buffers between calls, as their APIs permit. structured-merge-diff has no such API
// and allocates new values for every document.
//
// Package fixture generates the objects, package smd contains the engine with structured-merge-diff, and package
// lowerbound the JSON libraries. `make bench-engine` runs cmd/engine, which prints the tables.
//
// storebench compares the store with etcd; `make bench-store` runs cmd/store. serverbench compares the server with
// kube-apiserver and with a lower bound for servers; `make bench-server` runs cmd/server. cmd/optout measures responses
// without managedFields; `make bench-optout` runs it.
//
// Package stat computes figures and goals, and package proc reads the resource usage of processes.
package bench
