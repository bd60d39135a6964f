// Package registry is the write and read path: it creates, updates, patches, applies, deletes and reads objects. It is
// independent of HTTP.
//
// # The write pipeline
//
// Every write passes the same sequence of stages, in pipeline.go. Each stage returns a value with the state that is valid from
// then on:
//
//	decode     body → decoded: the object, its managedFields, its resourceVersion
//	load       → loaded: the live object from the watch cache, at the storage version and at the version of the request
//	merge      → merged: the result of create, update, patch or apply, with managed fields entries
//	mutate     → admitted: decoded strictly, with defaults, after the mutating half of the admission chain
//	prepare    → prepared: at the storage version, with reset fields restored and the server's metadata set
//	allocate   values that no other object may have, such as a cluster IP
//	validate   the resource's validation, then the validating half of the admission chain
//	commit     compare-and-swap at the loaded revision; if it loses a race, back to load
//
// A write that leaves the object unchanged after merge or prepare is a no-op: no commit, no event, no new times. Webhooks
// and policies are still evaluated, as in kube-apiserver: their verdict may depend on the user.
//
// # Invariants
//
//   - Managed fields are computed in merge. Fields that later stages set have no owner.
//   - merged and admitted are at the version of the request, prepared is at the storage version.
//   - Stages do not change their inputs, so that an attempt that loses a race has no effect.
//   - An object and everything that is written with it (allocations, conditions of admission plugins) are one transaction.
//   - Errors are API statuses, except for those of commits, which run translates.
//
// # Subresources and strategies
//
// A subresource is a value of type [Subresource] in the list of subresource.go: its verbs, the type of its bodies, the
// changes that it allows, its validation. Subresources that are created, such as a Binding, are actions ([Action]). A
// [Strategy] adds behaviour of a single resource to its api.Kind, such as the allocation of cluster IPs; internal/app
// lists them.
//
// # Where to look
//
//	registry.go      Registry, its options
//	request.go       requests and results
//	pipeline.go      the stages in order, and their types
//	  decode.go        decode; entries.go, managedFields that clients send; references.go, duplicate owner references
//	  load.go          load
//	  create.go, update.go, patch.go, apply.go   merge, one file per verb; lastapplied.go, client-side apply
//	  mutate.go        mutate; admissionsource.go, objects as webhooks see them
//	  prepare.go       prepare; strategy.go, strategies and allocation
//	  validate.go      validate, and objects that are only reviewed
//	  commit.go        commit and retries
//	endpoint.go      a resource at one version, or a subresource, with everything that is resolved once
//	read.go          objects at the version of an endpoint
//	subresource.go   subresources, their list, status and finalize
//	  scale.go, binding.go, eviction.go     one each; action.go, subresources that are created; podcondition.go
//	delete.go        deletions; deletionmark.go, grace periods, finalizers and propagation
//	touch.go         writes of controllers
//	conflict.go      409 with owners and values; sibling.go, warnings about one-ofs
//	errors.go        errors of the store as API statuses
//	service/, priorityclass/   strategies of single resources
package registry
