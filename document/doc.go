// Package document parses, stores and writes JSON and YAML values without loss: null, {}, [] and zero values stay
// distinct from each other and from an absent field, integers may be of any size, and 1.0 stays 1.0.
//
//	v, err := document.ParseYAML([]byte("replicas: 3\nimage: web:1"))
//	if err != nil {
//		return err // a *document.SyntaxError with line, column and path
//	}
//	v = v.With("replicas", document.NewInt(5))
//	fmt.Println(v.Get("image").Text(), v.JSON()) // web:1 {"image":"web:1","replicas":5}
//
// This is the package example; example_test.go contains an example for each function.
//
// # Values
//
// A [Value] is a map, a list, a string, a number, a boolean, null, or absent; the zero Value is absent. The fields of a
// map are sorted by name, and each name occurs once. Canonical JSON has no white space, sorted names, and strings
// escaped as Kubernetes escapes them; numbers keep the spelling of the input. [Equal] compares as Kubernetes does: 1
// and 1.0 are equal, null and absent are not.
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
// Memory: a value keeps the text that it was parsed from in memory, and a modified value keeps the original because
// both share the unchanged parts. [Value.Clone] returns a copy that shares nothing. Parsing JSON costs four allocations
// for a text of any size; writing an unchanged part is one copy of bytes.
package document

// Files:
//
//	value.go          the data structure and its accessors
//	parse.go          the JSON parser; string.go parses strings and sorts names, scan.go finds the end of tokens
//	  reuse.go          parsing into reused memory, and Clone
//	  unparsed.go       keeping containers at a given path as unparsed text
//	  base.go           sharing unchanged containers with a base document
//	write.go          JSON output
//	yaml.go           the YAML parser, with a map of its files:
//	  yamltree.go, yamlscalar.go, yamlstream.go, yamlerror.go
//	yamlwrite.go      YAML output and its quoting rules
//	build.go          constructors, With and Without
//	gotypes.go        conversion from and to Go types
//	equal.go          equality and order of values and numbers; field-by-field comparison of small maps
//	error.go          SyntaxError and Limits
//	internals.go      operations on unexported parts for internal/lib/fastdoc
