// Package applytest checks that a Kubernetes API server implements Server-Side Apply as kube-apiserver does. It runs
// behaviour scripts over HTTP, so it works with any server. It needs only the permission to create and delete namespaces, or
// to write to one namespace: scripts that need more permissions are skipped.
//
//	func TestServer(t *testing.T) {
//		applytest.RunTests(t, config) // one subtest per script
//	}
//
// [Run] returns a [Report] instead, and runs your own scripts. On the command line it is cadastre conformance. The examples
// are in applytest_test.go.
//
// # Scripts
//
// A script describes one behaviour in a txtar archive: a description, followed by requests with the expected responses.
// docs/scripts.md describes the language of scripts.
//
//	Applying the current value of a field makes the applier a co-owner, without a conflict.
//
//	-- alice applies --
//	APPLY configmaps/shared as alice
//
//	apiVersion: v1
//	kind: ConfigMap
//	metadata: {name: shared}
//	data: {a: "1"}
//	-- answer --
//	201
//
//	-- bob applies the same value --
//	APPLY configmaps/shared as bob
//
//	apiVersion: v1
//	kind: ConfigMap
//	metadata: {name: shared}
//	data: {a: "1"}
//	-- answer --
//	200 changed
//	-- owners --
//	alice Apply v1: .data.a
//	bob Apply v1: .data.a
//
// # Guarantees
//
// Stability: the exported API and the language of scripts follow semantic versioning; docs/api/applytest.txt lists the API.
// Every release adds scripts, so a server that passed with one release may fail with the next.
//
// Concurrency: all functions are safe for concurrent use. Scripts run in parallel, each in its own namespace, which is
// deleted afterwards.
//
// Memory: the caller owns the returned reports and scripts.
package applytest

// Files:
//
//	scripts.go      the scripts of this package, in scripts/
//	script.go       a script and its steps
//	request.go      the request line; httprequest.go: the HTTP request; curl.go: a command that repeats it
//	variables.go    references to earlier responses
//	expectation.go  the kinds of expectations; the expectations answer and object
//	status.go       expectations of errors, warnings, headers, bodies
//	watch.go        expectations of watch events
//	pattern.go      expected values with placeholders: matching and updating them
//	owners.go       managedFields as lines of text; times.go: their timestamps
//	mask.go         placeholders for volatile text in recorded expectations
//	response.go     responses of the server
//	media.go        the encodings of bodies and watches
//	server.go       the tested server; needs.go: probes its capabilities; permission.go: the user's permissions
//	namespace.go    the namespaces of scripts: a new one for each script, or Options.Namespace for all
//	scriptrun.go    one run of a script; creations.go: tracks created objects; removal.go: deletes them
//	run.go          a run of many scripts; report.go: its results as text and JSON; junit.go: as JUnit XML
//	testing.go      RunTests, for Go tests
