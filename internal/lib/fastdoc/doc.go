// Package fastdoc offers the parts of package document that trade safety for speed: parsing into reused memory, parsing
// beside a similar document, leaving a part of a document unparsed, and building containers without copies. It is for
// the engine and the server; misuse gives wrong documents instead of errors. The operations of package document are
// the plain twins.
//
//	parse.go      Reader, ParseJSONSealed, ParseJSONBeside
//	builder.go    Builder, which builds lists and maps; rebuild.go, from those that exist
//	maps.go       ScalarDifferences and HasPlainNames, shortcuts for maps
package fastdoc
