// Package encoding decodes request bodies and encodes responses (objects, lists, watch events and Statuses) in the media
// types of the API.
//
// # Vocabulary
//
//   - An [Encoding] is one serialization: its media types, its capabilities, and a [Serializer] that decodes and encodes
//     it. [Encodings] lists all encodings; code outside this package depends on none in particular, except that JSON is the
//     default.
//   - A [Shape] is the representation of an object: the whole object, a row of a Table, or PartialObjectMetadata.
//   - A [Format] is an encoding and a shape, as an Accept header selects them; a [View] adds the columns of a Table.
//   - A form is an encoded object that the watch cache caches, so that it is encoded once per revision.
//   - A cell is the value of a column in a row of a Table. Its source is the expression or function that computes it.
//
// # From a request to a response
//
//	Content-Type ── ForMediaType, ForApply ── DecodeBody ── JSON
//
//	Accept ── Negotiate ── Format ── View ──┬─ AppendObject, AppendList
//	                                        └─ NewWatchEncoder: Append, AppendBookmark, AppendError
//	error ─── StatusOf ── NegotiateStatus ──── AppendStatus
//
// Responses are appended to a buffer of the caller. Objects append their own JSON, so that a JSON list costs about one copy
// of its objects' bytes. Protobuf and CBOR append the cached forms of the objects. Encodings implemented by a [Codec], such
// as YAML, convert the JSON of the response.
//
// # Tables
//
// The columns of a built-in kind are a section of its kind file (package kinds); functions.go lists the cells that are Go
// functions. Names, types, priorities and cells equal those of Kubernetes (test/oracle/tables compares them); descriptions
// are our own. The columns of custom resources come from their CustomResourceDefinitions. Objects are user input: a cell that
// cannot be computed is empty, and never fails.
//
// # Where to look
//
//	encodings.go      the list of encodings; Encoding and Serializer
//	  json.go, yaml.go, protobuf.go, cbor.go    one encoding each
//	  protobuf/, cbor/  the wire formats of the binary encodings
//	codec.go          encodings that convert one document at a time
//	form.go           encoded objects in the watch cache
//	format.go         formats and shapes
//	negotiate.go      Accept; drop.go: its parameter drop; gzip.go: Accept-Encoding
//	object.go         objects and views
//	list.go           lists
//	watch.go          watch events
//	status.go         errors
//	partial.go        PartialObjectMetadata
//	members.go        finds members in the JSON of an object
//	table.go          Tables and their rows
//	columns.go        columns, and the parser of their section in kind files
//	source.go         the sources of cells that kind files can name
//	functions.go      the sources that are Go functions
//	  podcells.go, workloadcells.go, autoscalercells.go, networkcells.go, nodecells.go,
//	  eventcells.go, storagecells.go, accesscells.go, flowcells.go
//	cell.go           helpers of cells; items.go: helpers for values that are lists
//	custom.go         printer columns of custom resources
package encoding
