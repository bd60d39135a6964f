// Package cbor encodes documents as CBOR (RFC 8949) the way Kubernetes does, and decodes request bodies.
//
// CBOR has the same structure as JSON, except for fields that are []byte in Go and base64 in JSON: these are byte
// strings with a tag. The protobuf message of a kind tells which fields those are; kinds without a Go type have none.
// Text is encoded as byte strings, which need no UTF-8 validation when they are read.
//
// An encoded [Object] keeps its parts apart, so that its type and its managedFields can be left out without encoding it
// again.
package cbor
