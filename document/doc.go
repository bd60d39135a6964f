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
// # How it is fast
//
// Reading takes a fixed number of allocations however large the input is: one for
// the text, one or a few for the fields. Names and scalars are parts of the text.
// A container whose text is canonical already remembers it, so that writing an
// untouched part of a document is one copy of bytes, whatever its size, and so
// that two equal parts are often found equal by comparing bytes.
package document
