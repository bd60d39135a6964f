// Package bench compares the engine with structured-merge-diff and with the floor: same work, from bytes
// to bytes, in one run.
//
//	engine.go     what an engine does, from bytes to bytes; the peer as one
//	cadastre.go   our side: the engine behind two methods
//	case.go       every object with every operation
//	side.go       a case as each side does it
//	measure.go    time and allocations, sides taking turns
//
// The objects are in fixture, the peer in smd, the JSON libraries in floor. `make bench-engine` runs
// cmd/engine, which prints the tables.
package bench
