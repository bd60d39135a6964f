// Package floor measures the minimum work of an engine from bytes to bytes: parsing the inputs and writing the output
// with a general JSON library.
//
// The libraries are the candidates for the fastest one in Go. `make bench-floor` compares them; Fastest returns the
// one that the engine is compared with.
package floor
