// Package discovery is what a server tells about its kinds: discovery, OpenAPI, and which version it
// is.
//
// # Vocabulary
//
//   - An edition is the documents about the kinds of one moment. When kinds come or go, there is a
//     new one.
//   - A page is one document in one form, ready to be sent; what is big is kept packed.
//   - A definition is the schema of a Go type, or of a kind without one.
//   - Markers are what comments in the Go types of Kubernetes say about fields: optional, default,
//     how a list merges. markers.txt has them; generate makes it of the source of k8s.io/api.
//   - A form of OpenAPI is its version 2 or 3.
//
// # Documents
//
//	/version
//	/api, /apis                      groups: all at once (aggregated), or as it was before
//	/apis/GROUP                      versions of a group
//	/api/v1, /apis/GROUP/VERSION     kinds and their subresources
//	/openapi/v2                      everything, as JSON or protobuf
//	/openapi/v3                      where the documents of version 3 are
//	/openapi/v3/apis/GROUP/VERSION   one of them, as JSON or protobuf
//
// Nothing is made before it is asked for, and of what was made only pages are kept: about a
// megabyte when everything has been asked for. The index of OpenAPI of version 3 has a hash for each document. It is one of
// what the document is made of, so that no document is made for it; and documents stay when kinds come or go that
// they are not about.
//
// Definitions are made of Go types by reflection: fields and types; patch strategies, which are in
// tags; descriptions, which the types carry. The rest is in the markers. Tests hold all of it
// against what kube-apiserver publishes, by hashes in testdata; with the folder of the module
// k8s.io/kubernetes (make oracle-catalog) they tell each difference.
//
// # Where to look
//
//	catalog.go        the catalog, and which requests are for it
//	edition.go        finds and keeps pages; answers discovery and version
//	openapi.go          answers OpenAPI
//	page.go           sends a page; negotiate.go chooses its form
//	discovery.go      unaggregated discovery; aggregated.go, aggregated discovery; encode.go encodes both
//	version.go        /version
//	definitions.go    Go types to schemas; custom.go is for kinds without one
//	  gotypes.go        which Go types there are
//	  markers.go        what their comments say; generate/ reads them
//	  descriptions.go   what there is to read about them
//	paths.go          what can be done where; parameters.go, with which parameters; media.go, in which media
//	openapi2.go       both as a document of version 2; openapi2proto.go as protobuf
//	openapi3.go       both as documents of version 3; hash3.go tells them apart; shelf.go keeps them
//	jsonwriter.go     writes big documents in pieces
package discovery
