// Package discovery serves the documents that describe a server's API: discovery, OpenAPI and the version.
//
// # Vocabulary
//
//   - A snapshot is the set of documents about the kinds that are registered at one time. Each change of the register creates
//     a new snapshot.
//   - A page is one document in one media type, ready to be sent; large pages are compressed.
//   - A definition is a named schema in an OpenAPI document: of a Go type, or of a kind without a Go type.
//   - Markers are the annotations in the comments of Kubernetes' Go types, such as +optional, +default and +listType.
//     markers.txt lists them; generate extracts them from the source of k8s.io/api.
//
// # Documents
//
//	/version
//	/api, /apis                      groups: aggregated or unaggregated discovery
//	/apis/GROUP                      versions of a group
//	/api/v1, /apis/GROUP/VERSION     kinds and their subresources
//	/openapi/v2                      the whole API, as JSON or protobuf
//	/openapi/v3                      the index of OpenAPI v3 documents
//	/openapi/v3/apis/GROUP/VERSION   an OpenAPI v3 document, as JSON or protobuf
//
// Documents are built on first request, and only pages are cached: about a megabyte in total. The OpenAPI v3 index contains
// a hash of each document. The hash is computed from the inputs of the document, so that the index can be served without
// building any document. When kinds change, the documents of other groups remain cached.
//
// Definitions are derived from Go types by reflection: fields and types from the structs, patch strategies from struct tags,
// descriptions from SwaggerDoc methods. Other properties come from markers. Tests compare the documents with those of
// kube-apiserver by hashes in testdata; with a checkout of the module k8s.io/kubernetes (make oracle-catalog) they report
// each difference.
//
// # Where to look
//
//	catalog.go        the catalog, and the requests that it serves
//	snapshot.go       finds and caches pages; serves discovery and version
//	openapi.go          serves OpenAPI
//	page.go           sends a page; negotiate.go chooses its media type
//	discovery.go      unaggregated discovery; aggregated.go, aggregated discovery; encode.go encodes both
//	version.go        /version
//	definitions.go    schemas of Go types; custom.go, of kinds without one
//	  gotypes.go        the Go types of kinds
//	  markers.go        markers of Go types; generate/ extracts them
//	  descriptions.go   descriptions of Go types
//	paths.go          paths and operations; parameters.go, their parameters; media.go, their media types
//	openapi2.go       the OpenAPI v2 document; openapi2proto.go, as protobuf
//	openapi3.go       the OpenAPI v3 documents; documenthash.go, their hashes; documentcache.go caches them
//	jsonwriter.go     writes large documents incrementally
package discovery
