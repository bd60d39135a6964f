// Package protobuf encodes documents as Kubernetes' protobuf, and decodes request bodies.
//
// Protobuf has field numbers instead of names, so only kinds with Go types can be encoded. A [Message] is the encoding of a Go
// type of k8s.io/api: the number and the type of each field, from its struct tags. Messages are created on first use and
// cached.
//
// Objects are written from the last byte to the first: the length of a message precedes its content, and is known once the
// content is written. The bytes are equal to those of the Go types' own marshallers, which the tests compare:
//
//   - fields are in the order of their numbers, keys of maps are sorted
//   - fields that are not pointers in Go are written even if they are empty
//   - embedded structs are messages of their own, although JSON inlines their fields
//
// An encoded [Object] records the position of its managedFields, so that they can be omitted without encoding it again: only
// the length of the metadata changes.
//
// # Where to look
//
//	message.go    messages, derived from Go types
//	writer.go     writes messages backwards; scalar.go: values without fields, such as numbers, times and quantities
//	object.go     encoded objects, with or without managedFields
//	envelope.go   the envelope of responses, lists and watch events
//	encode.go     encodes objects by their apiVersion and kind
//	decode.go     decodes bodies; limit.go: limits their memory
package protobuf
