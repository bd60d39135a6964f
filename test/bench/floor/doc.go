// Package floor is the least work that an engine from bytes to bytes can do: parse the inputs and write
// the output, and nothing in between, with a general JSON library.
//
// The libraries here are those that could be the fastest for Go. `make bench-floor` compares them;
// Fastest names the one that the engine is held against.
package floor
