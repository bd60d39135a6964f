// Package defaults compares internal/api/builtin with the code of kube-apiserver. It is a module of its own,
// since that code is large; `make oracle-rules` runs it.
//
// Inputs are the documents in cases.txt, and random ones that are made of the table of types. What
// upstream makes of one by decoding, defaulting, and conversion to its internal form and back is
// compared with what Read and Default make of it. With -write, documents that passed are written to
// testdata/golden.txt.gz of internal/api/builtin, whose ordinary test replays them.
//
// # Where to look
//
//	upstream.go  what kube-apiserver does
//	random.go    documents that are made of types
//	compare.go   when two results are as good as the same
package defaults
