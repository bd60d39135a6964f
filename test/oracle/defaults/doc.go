// Package defaults compares the defaults of internal/api/builtin with kube-apiserver's code. It is a separate module
// because that code is large; `make oracle-rules` runs it.
//
// Inputs are the documents in cases.txt, and random ones that are generated from the types. The result of kube-apiserver's
// decoding, defaulting and conversion to the internal version and back is compared with that of Read and Default.
// With -write, documents that passed are written to testdata/golden.txt.gz of internal/api/builtin, whose unit test
// replays them.
//
// # Files
//
//	upstream.go  kube-apiserver's decoding and defaulting
//	random.go    random documents
//	compare.go   equivalence of two results
package defaults
