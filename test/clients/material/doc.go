// Package material tries the server with the custom resource definitions of well-known projects, and with objects of
// their kinds.
//
// The definitions are in the projects' Go modules, which the go command fetches when the tests run; no module depends on
// them. Objects are those that are found in the modules' YAML files, and two for each version of each kind that are made
// of its schema.
//
// # Vocabulary
//
//   - A project is a Go module at a version, and where its definitions are.
//   - A sample is an object to apply.
//   - An observation is what a server did when something was asked: a name, what came of it in a word or two, and
//     everything that was answered, as text, without times and revisions.
//
// Every definition is applied, waited for, and applied again; then it is looked at in discovery, in OpenAPI and with
// kubectl explain. Every sample is applied, applied again, listed by kubectl, and deleted. What kube-apiserver did is kept
// in testdata, a file for each project: every observation with a hash of its text. The tests make the same observations of
// ours and compare. `make oracle-material` asks both, tells every difference in full, and writes the files.
//
// # Where to look
//
//	project.go      the projects, and how their files are found
//	manifest.go     definitions and samples in these files
//	generate.go     objects made of schemas; pattern.go, strings made of patterns
//	observe.go      what is asked of a server: definitions and samples; catalog.go, what it tells about kinds
//	request.go      how it is asked
//	record.go       the files in testdata
package material
