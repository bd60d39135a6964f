// Package builtin holds the schemas of the built-in kinds beyond how they merge: the fields of their structs, defaults,
// validation and warnings.
//
// kube-apiserver decodes a request into Go structs. That drops unknown fields and nulls, rejects values of the wrong type,
// and rewrites quantities and times in canonical form; then it sets defaults, and encoding the structs adds some empty
// fields. This package does the same to documents, from data.
//
// # Vocabulary
//
//   - A [Type] is a Go type as JSON shows it. The name of a struct is the one in schemas: io.k8s.api.core.v1.Pod. Its
//     fields include those of embedded structs.
//   - A field is always written if Go encodes it even if it is empty: {} for a struct, null for a list, a map or a pointer,
//     0, "" or false for other types.
//   - A field is unset if it is absent or null, or a zero scalar that is no pointer, or an empty list or map.
//   - [Type.Read] decodes a document, [Type.Default] sets its defaults afterwards.
//
// # Types
//
// They are in types.txt.gz, which generate makes from k8s.io/api. The table is read when it is first needed. It contains
// the built-in kinds, and the types of request bodies of subresources: Scale, Eviction, TokenRequest, DeleteOptions.
//
// # Rules
//
// Defaults, one-ofs, validation and warnings are sections of the kind files; kinds/README.md explains their language.
// What upstream does when it converts between versions and its internal form counts as a default: a pod's serviceAccount
// follows serviceAccountName, a Secret's stringData is moved to data.
//
// [Type.Default] follows the defaults, [OneOfs.Clashes] finds the one-ofs that an applier and other field managers have filled
// twice, [Type.Validate] and [Type.ValidateSubresource] return kube-apiserver's errors, and [Type.Warnings],
// [Type.StatusWarnings] and [Type.SentWarnings] its warnings. A check that the language can not express is a function that
// irregular.go names.
//
// The oracle of validation (make oracle-validation) breaks the objects in testdata/validation/objects in every field, and as
// changes.txt lists, and validates them with kube-apiserver's own code. Tests replay its errors: an object that
// kube-apiserver accepts must never be rejected. Errors that are not found here are listed in gaps.txt, with the reason.
// The same is done to the statuses in testdata/validation/statuses, and to warnings with testdata/validation/warned.
//
// # Invariants
//
//   - Reading and defaulting are idempotent.
//   - A document that needs no change is returned as the same Value, without allocations.
//   - {}, [] and zeros of the request are kept, although Go would drop them. kube-apiserver treats such a document like
//     the one without them.
//   - A sealed part is not changed.
//
// # Where to look
//
//	type.go       types and their fields
//	table.go      the table of them; generate/ makes it
//	read.go       decoding
//	scalar.go     decoding what is neither struct, list nor map
//	image.go      the tags of images
//	error.go      what is wrong with a value
//	default.go    defaulting: the walk; empty.go, what Go writes for nothing
//	keep.go       what clients drop without knowing it
//	emptied.go    what a patch left nothing in
//	rule.go       rules, and how they are followed
//	subject.go    a struct while they are
//	ruletext.go   the language of defaults
//	steps.go      steps that need code
//	oneof.go      fields of which only one may be there
//	podlevel.go   resources of a pod as a whole, which depend on those of its containers
//
//	validate.go   Validate, and what it keeps while it runs
//	checktext.go  compiles sections of validation and warnings; premise.go, their conditions
//	block.go      how they are followed
//	checks.go     the checks that rules name; makers.go has those about several fields
//	formats.go    how texts are written; scalars.go has what is no plain text
//	lists.go      those about lists of texts, and about texts in which spaces do not count
//	irregular.go  the checks that are code, by name
//	  metadata.go, selectors.go, resources.go, limits.go, quotas.go, configdata.go, events.go, nodes.go
//	  services.go, endpoints.go, networks.go, cidrs.go
//	  pods.go, podsystem.go, podupdate.go, podsubresources.go, podannotations.go, containers.go, workloads.go, jobs.go, autoscalers.go
//	  volumes.go has claims and persistent volumes, sources.go what is in volumes of some kinds
//	  storage.go has the group of that name, classes.go what is neither stored nor run
//	  webhooks.go and policies.go have admission, expressions.go what is compiled there, flows.go flow control, signing.go certificates
//	  devices.go has claims of devices and their status, slices.go the devices that there are, capacities.go what they have,
//	  and semver.go how their versions are written
//	statuses.go   the checks that are code and that only statuses need
//	  podstatus.go, jobstatus.go, and signed.go, which has certificates
//	warnings.go   Warnings, and the checks that they name
//	  podwarnings.go has those about pods, portwarnings.go those about the ports of their containers, pathwarnings.go
//	  those about the files of their volumes; labelwarnings.go, addresswarnings.go; kindwarnings.go, those of one kind each
//	sameness.go   what counts as a change
//	shown.go      values in errors
package builtin
