// Package discovery serves the documents that describe a server's API: discovery, OpenAPI and the version.
//
// # Vocabulary
//
//   - A snapshot is the set of documents of the kinds that are registered at one time. A change of the register
//     creates a new one.
//   - A page is one document in one media type, ready to be sent; large pages are compressed.
//   - A definition is the schema of a Go type, or of a kind without one.
//   - Markers are the annotations in the comments of Kubernetes' Go types: optional, default, list type. markers.txt
//     has them; generate extracts them from the source of k8s.io/api.
//
// # Documents
//
//	/version
//	/api, /apis                      groups: aggregated or unaggregated discovery
//	/apis/GROUP                      versions of a group
//	/api/v1, /apis/GROUP/VERSION     kinds and their subresources
//	/openapi/v2                      the whole API, as JSON or protobuf
//	/openapi/v3                      the index of OpenAPI v3 documents
//	/openapi/v3/apis/GROUP/VERSION   one of them, as JSON or protobuf
//
// Documents are built on first request, and only pages are cached: about a megabyte in total. The OpenAPI v3 index has
// a hash for each document, which is computed from the inputs of the document, so that the index does not require
// building any. A change of kinds keeps the documents of unrelated groups.
//
// Definitions are derived from Go types by reflection: fields and types; patch strategies, from struct tags;
// descriptions, from the types' documentation methods. The rest comes from markers. Tests compare all of it with the
// documents of kube-apiserver, by hashes in testdata; with a checkout of the module k8s.io/kubernetes (make
// oracle-catalog) they report each difference.
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
