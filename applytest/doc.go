// Package applytest checks that a Kubernetes API server does Server-Side Apply as kube-apiserver does. It runs behaviour
// scripts over plain HTTP, so that it works with any server, and needs only the permission to create and delete
// namespaces, or to write to one: scripts that need more are skipped.
//
//	func TestServer(t *testing.T) {
//		applytest.RunTests(t, config) // one subtest per script
//	}
//
// [Run] returns a [Report] instead, and runs your own scripts. On the command line it is cadastre conformance. The
// examples are in applytest_test.go.
//
// # Scripts
//
// A script is one behaviour, in a txtar archive: a description, then requests with the expected responses. docs/scripts.md
// describes the language.
//
//	Who applies the value that a field has already becomes its co-owner. That is no conflict.
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
// Stability: the exported API and the language of scripts follow semantic versioning; docs/api/applytest.txt lists the
// API. Scripts are added in every release, so that a server that passed may fail.
//
// Concurrency: all functions are safe for concurrent use. Scripts run in parallel, each in a namespace of its own that is
// deleted afterwards.
//
// Memory: the caller owns the returned reports and scripts.
package applytest

// Files:
//
//	scripts.go      the scripts of this package, in scripts/
//	script.go       a script and its steps
//	request.go      the request line; wire.go makes it HTTP, curl.go a command that repeats it
//	variables.go    what later steps may refer to
//	expectation.go  what is expected: answer, object
//	refusal.go      errors, warnings, headers, bodies
//	watch.go        events
//	pattern.go      values with words in them, compared and refreshed
//	owners.go       managedFields as lines; times.go, when they were written
//	mask.go         what differs from run to run, when recording
//	answer.go       what a server said
//	media.go        the encodings of bodies and watches
//	server.go       the server that is asked; needs.go finds out what it can do, permission.go what the user may do
//	namespace.go    where scripts run: a namespace made for each, or one that was given
//	play.go         one run of a script; traces.go what it may have made, removal.go how that goes
//	run.go          many; report.go what they found, for people and as JSON, junit.go for others' programs
//	testing.go      for Go tests
