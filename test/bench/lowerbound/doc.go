// Package lowerbound measures the minimum work of an engine that takes and returns JSON: parsing the inputs and writing
// the output with a general JSON library.
//
// The libraries are the candidates for the fastest JSON library in Go; `make bench-lower-bound` compares them. Fastest
// returns the library that the engines are compared with.
package lowerbound
