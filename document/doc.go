// Package document parses, holds and writes JSON and YAML values without losing anything: null, {}, [] and zero values
// stay different from each other and from an absent field, integers may be of any size, and 1.0 stays 1.0.
//
//	v, err := document.ParseYAML([]byte("replicas: 3\nimage: web:1"))
//	if err != nil {
//		return err // a *document.SyntaxError with line, column and path
//	}
//	v = v.With("replicas", document.NewInt(5))
//	fmt.Println(v.Get("image").Text(), v.JSON()) // web:1 {"image":"web:1","replicas":5}
//
// This is the package example; example_test.go has one for each function.
//
// # Values
//
// A [Value] is a map, a list, a string, a number, a boolean, null, or absent; the zero Value is absent. A map has its
// fields sorted by name, each name once. Canonical JSON has no white space, sorted names, and strings escaped as
// Kubernetes escapes them; numbers keep the spelling with which they were read. [Equal] compares as Kubernetes does:
// 1 and 1.0 are equal, null and absent are not.
//
// # Input
//
// Duplicate names in a map, text that is not UTF-8 and unpaired surrogates are errors, in JSON and in YAML. [Limits]
// bounds the size and depth of a document and the size that YAML aliases add. YAML is read as kubectl reads it, by the
// rules of YAML 1.1: a plain yes is true, 010 is 8, and keys that are numbers or booleans become names.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/document.txt. Canonical JSON is
// stable. The layout of YAML output and the texts of errors may change in any release.
//
// Concurrency: values are immutable and safe for concurrent use, and so are all functions.
//
// Memory: a value keeps the whole text alive that it was parsed from, and a modified value keeps the original alive
// because it shares the unchanged parts. [Value.Clone] returns a copy that shares nothing. Parsing JSON costs four
// allocations, whatever the size; writing an unchanged part is one copy of bytes.
package document

// Files:
//
//	value.go          the data structure and its accessors
//	parse.go          the JSON parser; string.go parses strings and sorts names, scan.go finds where values end
//	  reuse.go          parsing into reused memory, and Clone
//	  seal.go           leaving a part unparsed
//	  beside.go         sharing the parts that another document has already
//	write.go          JSON output
//	yaml.go           the YAML parser, with a map of its files:
//	  yamltree.go, yamlscalar.go, yamlstream.go, yamlerror.go
//	yamlwrite.go      YAML output, and how strings are quoted
//	build.go          constructors, With and Without
//	gotypes.go        conversion from and to Go types
//	equal.go          equality and order; of numbers; of small maps field by field
//	error.go          SyntaxError and Limits
//	internals.go      what internal/lib/fastdoc uses
