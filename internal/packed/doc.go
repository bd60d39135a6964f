// Package packed writes documents in the binary encodings that Kubernetes' clients use: protobuf and CBOR.
//
// # Vocabulary
//
//   - A [Message] says how a Go type of k8s.io/api looks in protobuf: which field has which number, and
//     how it is written. It is made of the type's tags when somebody first asks.
//   - An object is split: its managedFields can be left out when it is appended, which costs nothing, since
//     all that changes is how long the metadata says it is.
//
// # Protobuf
//
// Kubernetes' protobuf has no names, so that only kinds with Go types can be written. It is made from the
// last byte to the first: what a message contains is written before its length, which is known then. The bytes
// are those that the Go types' own marshallers write, which the tests compare:
//
//   - fields are in the order of their numbers, keys of maps are sorted
//   - what is no pointer in Go is written even if it is empty
//   - embedded structs are messages of their own, although JSON has their fields where they are embedded
//
// # CBOR
//
// CBOR is JSON in other bytes, but for what is base64 in JSON: that is written as the bytes that it
// stands for, with a tag that says so. Which fields these are is known from the same messages.
//
// # Where to look
//
//	message.go    messages, and how they are made of Go types
//	write.go      protobuf, backwards
//	scalar.go     what has no fields: numbers, times, quantities, …
//	object.go     objects in protobuf, with or without managedFields
//	envelope.go   what is around them in answers, lists and watches
//	pack.go       objects of any kind, by their apiVersion and kind
//	weigh.go      how much memory an object takes that was sent
//	gotypes.go    the Go types of the built-in kinds
//	cbor.go       CBOR; float.go, its floats
//	cborobject.go objects in CBOR, with or without managedFields
//	packedtest/   the objects that k8s.io/api ships
package packed
