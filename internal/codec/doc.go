// Package codec writes answers: objects, lists, the events of watches and errors, in the form that
// the client asks for.
//
// # Vocabulary
//
//   - A [Format] is how an answer is written. It has a media (JSON, YAML, protobuf, CBOR) and a shape:
//     what is made of the objects first.
//   - A [Shape] is the whole object, a row of a table, or its metadata alone.
//   - A [View] is a format with what its shape needs: columns, the time.
//   - A cell is what a row has in a column. Where it comes from is its source.
//
// # How an answer is made
//
//	Accept ── Negotiate ── Format ── View ──┬─ AppendObject, AppendList
//	                                        ├─ NewEvents: Append, AppendBookmark, AppendError
//	error ─── StatusOf ── NegotiateStatus ──┴─ AppendStatus
//
// Everything is appended to a buffer of the caller's. Objects append their own JSON, so that a list
// is about one copy of its objects' bytes. YAML and JSON for people are made of that JSON. Protobuf and
// CBOR are made by package packed; objects that are a [Packer] keep theirs.
//
// # Tables
//
// The columns of built-in kinds are in columns.txt, in words; functions.go has the names of those
// cells that need more than words. Names, types, priorities and cells are those of Kubernetes, which
// oracle/ compares; descriptions are our own. Those of custom resources come from their definitions.
// Objects come from users: a cell that makes no sense of one is empty, it never fails.
//
// # Where to look
//
//	format.go         formats, media, shapes
//	negotiate.go      the format that a header asks for
//	object.go         objects, views, answers of one object
//	list.go           lists
//	event.go          events of watches
//	stream.go         long lists, piece by piece
//	status.go         errors
//	drop.go           what a client can do without
//	asked.go          formats of headers that were read before
//	packed.go         protobuf and CBOR
//	bodies.go         objects that were sent as protobuf or CBOR
//	cborsize.go       how long CBOR is at least as JSON
//	partial.go        objects of which only the metadata is left
//	render.go         YAML, and JSON for people
//	members.go        finds members in the text of an object
//	table.go          tables and their rows
//	columns.go        columns, and how columns.txt is read
//	source.go         the sources of cells that columns.txt has words for
//	functions.go      the names of those that it has not
//	  podcells.go, workloadcells.go, autoscalercells.go, networkcells.go, nodecells.go,
//	  eventcells.go, storagecells.go, accesscells.go, flowcells.go
//	cell.go           what cells are made with; items.go looks through lists
//	custom.go         columns of custom resources
//	oracle/           asks Kubernetes' own printers, and writes what they say to testdata
package codec
