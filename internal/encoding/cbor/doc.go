// Package cbor encodes documents as CBOR (RFC 8949) as Kubernetes does, and decodes request bodies.
//
// CBOR has the same structure as JSON, except for fields that are []byte in Go and base64 in JSON: these are tagged byte
// strings. The [protobuf.Message] of a kind determines these fields; kinds without a Go type have no such fields.
// Strings are encoded as byte strings, for which decoders do not validate UTF-8.
//
// An encoded [Object] keeps its parts separate, so that its type and its managedFields can be omitted without encoding it
// again.
package cbor
