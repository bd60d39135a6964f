// Package builtin implements decoding, defaulting, validation and warnings of the built-in kinds. Their merge topologies are
// in package api.
//
// kube-apiserver decodes a request into Go structs. This drops unknown fields and nulls, rejects values of the wrong
// type, and converts quantities and times to canonical form. Then it sets defaults, and encoding the structs adds some
// empty fields. This package does the same to documents, according to a table of types and to rules in kind files.
//
// # Vocabulary
//
//   - A [Type] is a Go type as seen through its JSON encoding. The name of a struct is its OpenAPI name:
//     io.k8s.api.core.v1.Pod. Its fields include those of embedded structs.
//   - A field is always written if Go encodes it even if it has the zero value: {} for a struct, null for a list, a map or a
//     pointer, 0, "" or false for other types. Such a field has no omitempty.
//   - A field is unset if Go cannot distinguish it from an absent field: if it is absent or null, an empty list or map, or,
//     unless the field is a pointer, 0, "" or false.
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
// [Type.Default] applies the defaults. [OneOfs.Clashes] finds unions of which an apply and other field managers have set
// different members. [Type.Validate] and [Type.ValidateSubresource] return the same errors as kube-apiserver, and
// [Type.Warnings], [Type.StatusWarnings] and [Type.RequestWarnings] the same warnings. Checks that the language of kind files
// cannot express are Go functions, which gochecks.go lists. The validation tags of Go types, which are in declarative.txt,
// complement the rules: see kinds/README.md.
//
// The program of make oracle-validation modifies every field of the objects in testdata/validation/objects, applies the
// changes in changes.txt, validates the results with kube-apiserver's own code, and records the errors. Tests compare this
// package with the recorded errors: it must accept every object that kube-apiserver accepts, and gaps.txt must list the
// errors that it does not find, with the reason. Validation of statuses is tested in the same way with
// testdata/validation/statuses, warnings with testdata/validation/warned.
//
// # Invariants
//
//   - Decoding and defaulting are idempotent.
//   - A document that needs no change is returned as the same Value, without allocations.
//   - {}, [] and zeros of the request are retained, although encoding Go structs would omit them. kube-apiserver treats a
//     document with them like a document without them.
//   - An unparsed part of a document is not changed.
//
// # Where to look
//
//	type.go       types and their fields
//	table.go      the table of types; generate/ builds it
//	decode.go     decoding; scalar.go, decoding of scalars; image.go, image tags; error.go, decoding errors
//	default.go    defaulting; empty.go, encodings of zero structs
//	defaultrule.go    default rules and their evaluation; structupdate.go, a struct during evaluation
//	defaultparser.go  parses the sections of defaults
//	steps.go      default rules that are Go functions
//	oneof.go      unions
//	podlevel.go   defaults of pod-level resources, which depend on the resources of the containers
//	retain.go     retains unset fields that clients omit when they send an object back
//	prune.go      removes lists and maps that a patch or an apply has emptied
//
//	validate.go   Validate, and the state of a validation
//	checkparser.go  compiles sections of validation and warnings; rulecondition.go, their conditions
//	block.go      evaluation of compiled rules
//	declarative.go  the declarative validation of structs; declarativeparser.go compiles declarative.txt
//	tagchecks.go  validation tags of single fields; tagrules.go, tags of several fields: unions and modes
//	checks.go     checks of single values; contextchecks.go, checks that involve other fields; lists.go, checks of lists
//	formats.go    string formats; scalars.go, formats of other scalars
//	gochecks.go   the checks that are Go functions, by name
//	  metadata.go, selectors.go, resources.go, limits.go, quotas.go, configdata.go, events.go, nodes.go
//	  services.go, endpoints.go, networks.go, cidrs.go
//	  pods.go, podsystem.go, podupdate.go, podsubresources.go, podannotations.go, containers.go, workloads.go, jobs.go, autoscalers.go
//	  volumes.go has claims and persistent volumes, sources.go volume sources
//	  storage.go has storage.k8s.io; classes.go has priority and runtime classes, and leases
//	  webhooks.go and policies.go have admission, expressions.go CEL, flows.go flow control
//	  signing.go has certificates.k8s.io, with trustbundles.go and podcertificates.go; migrations.go has storagemigration.k8s.io
//	  devices.go has resource claims and their status, slices.go and capacities.go resource slices, semver.go versions
//	statuses.go   the checks of statuses that are Go functions
//	  podstatus.go, jobstatus.go, signingstatus.go, podcertificatestatus.go
//	warnings.go   Warnings, and the checks of warnings
//	  podwarnings.go, portwarnings.go, pathwarnings.go, labelwarnings.go, addresswarnings.go, kindwarnings.go
//	equality.go   semantic equality, for immutable fields
//	errorvalue.go values in errors
package builtin
