// Package document reads, holds and writes JSON and YAML values.
//
// # Vocabulary
//
//   - A document is a parsed JSON or YAML value. It is immutable.
//   - A [Value] is a handle on a document or on a part of one. The zero Value is
//     absent: there is nothing there at all, which is not the same as null.
//   - A map has named fields, sorted by name, each name once. A list has items.
//     Everything else is a scalar: null, a boolean, a number or a string.
//   - Canonical JSON has no white space, sorted names, and strings escaped as
//     Kubernetes escapes them (that is, as encoding/json does with HTML escaping).
//     Numbers keep the spelling that they were read with.
//
// # What is kept
//
// A value is never passed through Go's own types, so that null, {}, [] and zero
// values stay different from each other and from absence, integers may be of any
// size, and 1.0 does not turn into 1. [Equal] nevertheless compares as Kubernetes
// does: 1 and 1.0 are equal, null and absent are not.
//
// # What is refused
//
// Errors are a [*SyntaxError] with line, column and path. A name that occurs twice
// in one map, text that is not UTF-8, and half of a surrogate pair are errors, in
// JSON and in YAML. [Limits] bounds the size and the depth of a document, and what
// the aliases of YAML may add to it.
//
// # YAML
//
// YAML is read as kubectl reads it, with sigs.k8s.io/yaml: by the rules of YAML 1.1,
// so that a plain yes is true and 010 is 8; keys that are numbers or booleans become
// names. Numbers keep their spelling where JSON has it. [Value.YAML] writes what both
// read back.
//
// # What is kept alive
//
// A value keeps the whole text alive that it was read from, and a value that was made
// of others keeps theirs. Whoever keeps documents for long that were changed many times
// writes them and reads them again now and then.
//
// # How it is fast
//
// Reading JSON takes four allocations however large the input is: one for the text,
// one for what its parts are and where, one for the document, and one if strings
// have escapes; with a [Reader], next to none. Names and scalars are parts of the
// text, and the garbage collector has nothing to look at but the text as a whole. A
// container whose text is canonical already remembers it, so that writing an untouched
// part of a document is one copy of bytes, whatever its size, and so that two equal
// parts are often found equal by comparing bytes.
//
// # Reading the source
//
//	value.go          the data structure, and how to look into it
//	parse.go          JSON in; string.go reads its strings, fieldname.go puts its fields in order,
//	                  scan.go finds where things end
//	  reuse.go          to memory that is used again
//	  seal.go           a part is left unread
//	  beside.go         what another document has already is shared with it
//	write.go          JSON out
//	yaml.go           YAML in, and how the files for it belong together
//	  yamltree.go, yamlscalar.go, yamlbaretag.go, yamlstream.go, yamlerror.go, yamlflow.go
//	yamlwrite.go      YAML out; yamlquote.go decides how a string is quoted
//	build.go          values made by hand; builder.go makes many with few allocations, out of
//	                  the memory of arena.go; rebuild.go, once a part differs
//	gotypes.go        from and to the types that Go has for JSON
//	equal.go          equality and order; number.go, of numbers; scalars.go, of small maps field by field
//	error.go          SyntaxError and Limits
package document
