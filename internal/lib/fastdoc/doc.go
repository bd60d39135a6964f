// Package fastdoc offers the parts of package document that trade safety for speed: parsing into reused memory, parsing
// with a similar document as base, leaving a part of a document unparsed, and building containers without copies. It is
// for the apply engine and the API server; misuse produces wrong documents instead of errors. Package document contains
// the safe equivalents; tests compare the results of both.
//
//	parse.go      Reader, ParseJSONExcept, ParseJSONWithBase
//	builder.go    Builder, which builds lists and maps; rebuild.go modifies existing ones
//	maps.go       ScalarDifferences and HasPlainNames, shortcuts for maps
package fastdoc
