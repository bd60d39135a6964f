// Package applytest asks a Kubernetes API server what Server-Side Apply does there, and holds the answers
// against those of kube-apiserver. It speaks plain HTTP, so that it works with any server, and needs no more
// than the right to make and delete namespaces, or to write to one: scripts that do what the user may not do are skipped.
//
// [Run] runs the scripts of this package, or your own, and returns a [Report]. In a Go test of a server,
// [RunTests] does. On the command line it is cadastre conformance.
//
// # Scripts
//
// A script is one behaviour, in a txtar archive scripts/AREA/BEHAVIOUR.txtar. It starts with the behaviour in
// prose, for somebody who has never seen the code. Then come its steps, each a request, followed by what is
// expected of the answer:
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
// Every script runs in a namespace of its own, $NAMESPACE, which is removed after it, as is everything else
// that the script has made. (In a namespace that was given, scripts run one after the other.) Name what is in
// no namespace $NAMESPACE-something, so that scripts that run side by side do not meet.
//
// # Directives
//
// Lines of the prose that start with one of these words say which servers are asked:
//
//	needs: ABILITY            unset (the server knows unset markers), drop (it leaves out managedFields), no drop, cbor, crds,
//	                          garbage collection (objects whose owners are gone go), no controllers (nothing else writes
//	                          to the objects, as it does to workloads in a cluster), or a kind such as
//	                          "rbac.authorization.k8s.io/v1 clusterroles"
//	only: NAME: REASON        only the implementation of this name is asked, such as cadastre
//	difference: REASON        why an implementation has expectations of its own, see below; for Cadastre's, a
//	                          title in docs/differences.md
//	defect: NAME: WHAT        the implementation of this name is known to fail here, and should be corrected; in
//	                          Go tests it is skipped, and an error when it passes
//
// A server that lacks an ability skips the script, and the report says why. So does one that lacks a kind of
// Kubernetes' own that the script has a short address for, without saying so. An answer 403 that the script does not
// expect is a skip, too, if the user may not do everything (which a SelfSubjectAccessReview tells), and a failure if
// the user may.
//
// # Requests
//
// A request is a line, headers, an empty line and a body, as in HTTP. The line is
//
//	VERB ADDRESS [OPTION…]
//
// These verbs are shorthands:
//
//	APPLY      PATCH with Content-Type application/apply-patch+yaml; the body is sent as it is written
//	CREATE     POST, application/json
//	UPDATE     PUT, application/json
//	MERGE      PATCH, application/merge-patch+json
//	STRATEGIC  PATCH, application/strategic-merge-patch+json
//	JSONPATCH  PATCH, application/json-patch+json
//	DELETE     DELETE; a body, if there is one, is application/json
//	EDIT       GET the address, merge the body into the object as a JSON merge patch does, and PUT the result,
//	           resourceVersion and managedFields included, as kubectl edit and controllers do
//	WATCH      GET with watch=true; events are collected while later steps run
//	WAIT 1.1s  no request; the times of managedFields have seconds only
//
// EVENTUALLY before a verb repeats the request until the answer is as expected, for at most 15 seconds; only that
// answer counts. A kind that was just made needs it. TIMES 12 before a verb makes the request twelve times, with $N
// from 1 to 12; all must succeed, and the last answer is held against the expectations.
//
// For all of these but APPLY the body is written as YAML and sent as JSON. If the request has a header Content-Type,
// that is sent instead and the body is sent as it is written. HTTP's own methods, GET, POST, PUT and PATCH, send the
// body as it is written and no header that is not there. Only for media types of CBOR and protobuf the body, written as
// YAML, is always converted; what answers and events have in them is read as YAML, too. Accept is application/json and
// User-Agent is applytest unless there are such headers.
//
// An address is a path that starts with a slash, with its query if it has one, or short for something in the
// script's namespace, with v1 as the version if it is left out:
//
//	configmaps/shared                       /api/v1/namespaces/$NAMESPACE/configmaps/shared
//	apps/v1 deployments/web/status          /apis/apps/v1/namespaces/$NAMESPACE/deployments/web/status
//	$NAMESPACE.example.com/v1 widgets/x     the same for a kind that the script makes in a group of its own
//	/api/v1/namespaces/$NAMESPACE           itself
//
// Options become parameters of the query, in their order. Values with spaces are in double quotes.
//
//	as alice      fieldManager=alice
//	force         force=true
//	dryRun        dryRun=All
//	name=value    itself
//
// # Variables
//
// They may be anywhere in requests, and in strings and names of expectations:
//
//	$NAMESPACE                     the script's namespace
//	$N, $NN                        the number of the request, see TIMES; $NN has two digits, so that names sort
//	$uid, $resourceVersion         of the object in the last answer that had one
//	${.spec.clusterIP}             any field of it
//	${alice applies .metadata.uid} any field of the answer to the step of that name
//
// Every other dollar sign, such as that of $patch, is itself.
//
// # Expectations
//
// They are files of these names, in any order, each at most once in a step. A step without any must succeed.
//
//	answer           the status; after it "unchanged" if the resourceVersion must be the one that the object
//	                 had in the answer before, "changed" if not: this is how a no-op is told from a write
//	object           the body, whole, as YAML
//	object has       the body in part: of maps the fields that are named, of lists all items
//	owners           managedFields, whole, in any order
//	owners in order  the same, in the order of the server
//	times            for each owner, whether its time is unchanged or changed since the answer before that had
//	                 the object, or the owner is new
//	error            a Status in part: reason, message, causes (its details.causes, in any order), or any other field
//	warnings         the texts of the Warning headers, one a line, or "none"
//	events           of the last watch, those that came since it was opened or since its events were last
//	                 expected, or "none"; each with a part of its object: - ADDED: {metadata: {name: shared}}
//	events from STEP the same, of the watch that was opened by that step
//	headers          some headers, each on a line
//	body             the body as text
//
// In objects, the fields uid, resourceVersion, creationTimestamp and managedFields of metadata are looked at
// only where the expectation names them. An owner is a line with its name, operation, version and perhaps
// subresource, a colon, and the path of every field that it owns, in the notation of package fieldset. A path
// stands for itself alone: "." members of managedFields are paths of their own. Long lists of paths go on in
// indented lines.
//
//	alice Apply v1: .data.a .metadata.labels."example.com/app"
//	bob Update apps/v1 status:
//	  .status.conditions
//	  .status.conditions[type="Available"]
//
// Strings may have these words in them:
//
//	<any>      any text, even none; as a whole value, any value that is there
//	<uid>      a uid
//	<version>  digits
//	<time>     a time such as 2026-01-02T03:04:05Z
//	<now>      as a whole value, a time within an hour of the runner's
//	<absent>   as the value of a field or header: it must not be there
//	<more>     as the last item of a list: others may follow
//
// To show that something makes no event, make one after it that must be seen: a watch without news is
// otherwise given up after a short time.
//
// # Differences
//
// What is expected is what kube-apiserver answers. If an implementation answers differently on purpose, the
// step has expectations of its own for it, which replace those of the same kind. The prose says why in a
// directive. An answer of its own replaces all expectations of the step: with another status goes another body.
//
//	-- answer --
//	500
//	-- answer of cadastre --
//	400
//
// # Recording
//
// Write the requests, and files with the names of what you want to expect and nothing in them:
//
//	-- answer --
//	-- object --
//	-- owners --
//
// Options.Record, or cadastre conformance --record FOLDER, fills them with what the server answers. In this
// repository,
//
//	make conformance CONFORMANCE='-run ^removal/ -record'
//
// starts the real kube-apiserver, records its answers in scripts/, and holds our own server to them. (To start it
// once for many such runs: go -C peers run ./cmd/run, and pass its -kubeconfig.) What holds already is left alone
// to the byte, so that parts and words that were written by hand stay; what does not hold is replaced in the form
// that it has. Only what is empty is recorded from another implementation than Kubernetes. Of an object with many
// defaults, record "object has" and remove what the script is not about.
//
// Then read what was recorded: it is a test only once somebody has agreed with it.
//
// # Where to look
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
//	media.go        CBOR and protobuf, sent and read
//	server.go       the server that is asked; needs.go finds out what it can do, permission.go what the user may do
//	namespace.go    where scripts run: a namespace made for each, or one that was given
//	play.go         one run of a script; traces.go what it may have made, removal.go how that goes
//	run.go          many; report.go what they found, for people and as JSON, junit.go for others' programs
//	testing.go      for Go tests
package applytest
