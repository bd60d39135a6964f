// Package material tests the server with the CustomResourceDefinitions of well-known projects, and with objects of
// their kinds.
//
// The definitions are in the projects' Go modules, which the go command downloads when the tests run; no module
// depends on them. Objects are those in the modules' YAML files, and two generated ones for each version of each
// kind.
//
// # Terms
//
//   - A project is a Go module at a version, with the paths of its definitions.
//   - A sample is an object to apply.
//   - An observation is the response of a server: a name, a short outcome, and the complete response as text, without
//     times and revisions.
//
// Every definition is applied, and applied again when it is established; then discovery, OpenAPI and kubectl explain
// are observed. Every sample is applied, applied again, listed by kubectl, and deleted. The observations of
// kube-apiserver are recorded in testdata, one file per project, with a hash of each text. The tests make the same
// observations of Cadastre and compare. `make oracle-material` observes both servers, prints every difference in
// full, and writes the files.
//
// # Files
//
//	project.go      projects and their files
//	manifest.go     definitions and samples in these files
//	generate.go     objects from schemas; pattern.go, strings from patterns
//	observe.go      observations of definitions and samples; catalog.go, of discovery and OpenAPI
//	request.go      HTTP requests and kubectl
//	record.go       the files in testdata
package material
