// Package registry implements the API verbs on stored objects: create, update, patch, apply, delete and read. It is
// independent of HTTP.
//
// # The write pipeline
//
// Every write passes the same sequence of stages, which pipeline.go defines. Each stage returns a value that holds the state
// for the stages after it:
//
//	decode     body → decoded: the object, its managedFields, its resourceVersion
//	load       → loaded: the live object from the watch cache, at the storage version and at the request's version
//	merge      → merged: the result of create, update, patch or apply, with managed fields entries
//	mutate     → admitted: decoded strictly, with defaults, after the mutating half of the admission chain
//	prepare    → prepared: at the storage version, with reset fields restored and server-set metadata
//	allocate   → prepared: with values that must be unique among objects, such as a cluster IP
//	validate   the resource's validation, then the validating half of the admission chain
//	commit     compare-and-swap at the loaded revision; after a conflict, the write is retried from load
//
// A write that leaves the object unchanged after merge or prepare is a no-op: nothing is committed, no watch event is sent,
// and the times of managed fields entries do not change. Webhooks and policies are evaluated for no-ops too, as in
// kube-apiserver, because their decision may depend on the user.
//
// # Invariants
//
//   - Managed fields are computed in merge. Fields that later stages set belong to no field manager.
//   - merged and admitted hold objects at the request's version; prepared holds an object at the storage version.
//   - Stages do not modify their inputs, so an attempt that ends in a conflict has no effect.
//   - An object, its allocations and the writes and conditions of admission plugins are committed in one transaction.
//   - Errors are API statuses, except for errors of commits, which the method run converts to API statuses.
//
// # Subresources and strategies
//
// A subresource is a value of type [Subresource] in the list of subresource.go: its verbs, the type of its bodies, the
// changes that it allows, its validation. Create requests to subresources, such as pods/binding, are actions ([Action]). A
// [Strategy] adds behaviour of a single resource that its api.Kind does not describe, such as the allocation of cluster IPs;
// internal/app lists the strategies.
//
// # Where to look
//
//	registry.go      Registry and its options
//	request.go       requests and results
//	pipeline.go      the stages in order, their types, and load; keyqueue.go, the queue of the writers of a hot object
//	  decode.go        decode; entries.go: managedFields that clients send; references.go: duplicate ownerReferences
//	  markers.go       rejection of unset markers outside of apply
//	  load.go          conversion of the loaded object, preconditions
//	  create.go, update.go, patch.go, apply.go   merge, one file per verb; lastapplied.go: migration from client-side apply
//	  mutate.go        mutate; admissionsource.go: objects in the form that webhooks receive
//	                   policymerge.go: merging apply configurations of policies
//	  prepare.go       prepare; strategy.go: strategies and allocation
//	  validate.go      validate, and admission of objects that are never stored, such as SubjectAccessReviews
//	  commit.go        commit and retries
//	endpoint.go      Endpoint: a resource or subresource at one version, with its schema, merge engine and admission plugins
//	read.go          conversion of stored objects to the version of an endpoint
//	subresource.go   the list of subresources; status and finalize
//	  scale.go, binding.go, eviction.go, ephemeralcontainers.go, resize.go, approval.go   one subresource each
//	  action.go        create requests to subresources; podcondition.go: conditions that binding and eviction set
//	delete.go        deletions; deletionmark.go: grace periods, finalizers and propagation policies
//	touch.go         writes of controllers, without admission and validation
//	conflict.go      the 409 of an apply, with field managers and values; sibling.go: warnings about one-ofs
//	errors.go        conversion of store errors to API statuses
//	service/, priorityclass/   strategies of single resources
package registry
