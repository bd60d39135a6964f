// Package bench compares the engine with structured-merge-diff, strategic merge patches with apimachinery's
// strategicpatch, and both with the floor: same work, from bytes to bytes, in one run.
//
//	engine.go     what an engine does, from bytes to bytes; the peer as one
//	cadastre.go   our side: the engine behind two methods
//	case.go       every object with every operation
//	side.go       a case as each side does it
//	patch.go      patches that are made and merged: cases, and both sides
//	measure.go    time and allocations, sides taking turns
//
// Our side and the floor use their memory again from one turn to the next, as their libraries let them;
// the peer has nothing like it, and makes new values for every document.
//
// The objects are in fixture, the peer in smd, the JSON libraries in floor. `make bench-engine` runs
// cmd/engine, which prints the tables.
//
// The store is compared with etcd by storebench; `make bench-store` runs cmd/store, which prints those
// tables. The server is compared with kube-apiserver and with a floor of its own by serverbench; `make
// bench-server` runs cmd/server. With the same parts cmd/optout measures answers without managedFields; `make
// bench-optout` runs it.
//
// What all comparisons need is in stat, for figures and goals, and in proc, for what a process uses.
package bench
