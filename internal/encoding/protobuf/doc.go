// Package protobuf encodes documents as Kubernetes' protobuf, and decodes request bodies.
//
// Protobuf has field numbers instead of names, so that only kinds with Go types can be encoded. A [Message] is how a Go
// type of k8s.io/api is encoded: the number and the type of each field, from its struct tags. Messages are made on first
// use and kept.
//
// Objects are written from the last byte to the first: the length of a message precedes its contents, and is known once
// these are written. The bytes are those of the Go types' own marshallers, which the tests compare:
//
//   - fields are in the order of their numbers, keys of maps are sorted
//   - fields that are not pointers in Go are written even if they are empty
//   - embedded structs are messages of their own, although JSON inlines their fields
//
// An encoded [Object] knows where its managedFields are, so that they can be left out without encoding it again: only the
// length of the metadata changes.
//
// # Where to look
//
//	message.go    messages, made of Go types
//	writer.go     writes messages backwards; scalar.go, values without fields: numbers, times, quantities
//	object.go     encoded objects, with or without managedFields
//	envelope.go   the envelope of responses, lists and watch events
//	encode.go     encodes objects by their apiVersion and kind
//	decode.go     decodes bodies; limit.go limits the memory that they take
package protobuf
