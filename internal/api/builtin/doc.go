// Package builtin holds the schemas of the built-in kinds except their merge topologies: the fields of their structs,
// defaults, validation and warnings.
//
// kube-apiserver decodes a request into Go structs. This drops unknown fields and nulls, rejects values of the wrong
// type, and converts quantities and times to canonical form. Then it sets defaults, and encoding the structs adds some
// empty fields. This package does the same to documents, driven by data.
//
// # Vocabulary
//
//   - A [Type] is a Go type as seen through its JSON encoding. The name of a struct is its OpenAPI name:
//     io.k8s.api.core.v1.Pod. Its fields include those of embedded structs.
//   - A field is always written if Go encodes it even if it is empty: {} for a struct, null for a list, a map or a pointer,
//     0, "" or false for other types.
//   - A field is unset if it is absent or null, or a zero scalar that is no pointer, or an empty list or map.
//   - [Type.Decode] decodes a document; [Type.Default] sets its defaults afterwards.
//
// # Types
//
// The types are in types.txt.gz, which generate builds from k8s.io/api, and which is read on first use. The table
// contains the built-in kinds and the types of subresource bodies: Scale, Eviction, TokenRequest, DeleteOptions.
//
// # Rules
//
// Defaults, one-ofs, validation and warnings are sections of the kind files; kinds/README.md documents their language.
// Effects of Kubernetes' conversion between versioned and internal types count as defaults: a pod's serviceAccount is
// set from serviceAccountName, a Secret's stringData is moved to data.
//
// [Type.Default] applies the defaults, [OneOfs.Clashes] finds unions of which an applier and other field managers have
// set different members, [Type.Validate] and [Type.ValidateStatus] return kube-apiserver's errors, and [Type.Warnings],
// [Type.StatusWarnings] and [Type.RequestWarnings] its warnings. Checks that the language cannot express are Go
// functions, which gochecks.go lists.
//
// The oracle of validation (make oracle-validation) modifies every field of the objects in testdata/validation/objects,
// and applies the changes in changes.txt, and validates the results with kube-apiserver's own code. Tests replay its
// errors: an object that kube-apiserver accepts must never be rejected. Errors that this package does not find are
// listed in gaps.txt, with the reason. Status validation is tested likewise with testdata/validation/statuses, warnings
// with testdata/validation/warned.
//
// # Invariants
//
//   - Decoding and defaulting are idempotent.
//   - A document that needs no change is returned as the same Value, without allocations.
//   - {}, [] and zeros of the request are kept, although Go would drop them. kube-apiserver treats such a document like
//     the one without them.
//   - An unparsed part is not changed.
//
// # Where to look
//
//	type.go       types and their fields
//	table.go      the table of types; generate/ builds it
//	decode.go     decoding; scalar.go, decoding of scalars; image.go, image tags; error.go, decoding errors
//	default.go    defaulting; empty.go, zero structs
//	defaultrule.go    default rules and their evaluation; structupdate.go, a struct during evaluation
//	defaultparser.go  parses the sections of defaults
//	steps.go      default rules that are Go functions
//	oneof.go      unions
//	podlevel.go   pod-level resources, which depend on those of the containers
//	retain.go     unset fields that clients drop in a round trip
//	prune.go      containers that a patch or an apply has emptied
//
//	validate.go   Validate, and the state of a validation
//	checkparser.go  compiles sections of validation and warnings; rulecondition.go, their conditions
//	block.go      evaluation of compiled rules
//	checks.go     checks of single values; contextchecks.go, checks that involve other fields; lists.go, checks of lists
//	formats.go    string formats; scalars.go, formats of other scalars
//	gochecks.go   the checks that are Go functions, by name
//	  metadata.go, selectors.go, resources.go, limits.go, quotas.go, configdata.go, events.go, nodes.go
//	  services.go, endpoints.go, networks.go, cidrs.go
//	  pods.go, podsystem.go, podupdate.go, podannotations.go, containers.go, workloads.go, jobs.go, autoscalers.go
//	  volumes.go has claims and persistent volumes, sources.go volume sources
//	  storage.go has storage.k8s.io; classes.go has priority and runtime classes, and leases
//	  webhooks.go and policies.go have admission, expressions.go CEL, flows.go flow control, signing.go certificates
//	  devices.go has resource claims and their status, slices.go and capacities.go resource slices, semver.go versions
//	statuses.go   the checks of statuses that are Go functions
//	  podstatus.go, jobstatus.go, signingstatus.go
//	warnings.go   Warnings, and the checks of warnings
//	  podwarnings.go, portwarnings.go, pathwarnings.go, labelwarnings.go, addresswarnings.go, kindwarnings.go
//	equality.go   semantic equality, for immutable fields
//	errorvalue.go values in errors
package builtin
