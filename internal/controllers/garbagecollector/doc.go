// Package garbagecollector deletes objects whose owners are deleted, and makes owners wait for their dependents, as
// Kubernetes' garbage collector does.
//
// # Terms
//
//   - A dependent is an object with ownerReferences, which refer to its owners. An owner is identified by
//     kind, name and UID, and is in the namespace of the dependent or cluster-scoped.
//   - A reference is dangling if the owner does not exist, waiting if the owner waits for the deletion of its
//     dependents, and solid otherwise.
//   - An owner that is deleted in the foreground is waiting, or blocked, as long as there is a dependent whose reference
//     to it sets blockOwnerDeletion.
//   - An owner that is deleted with the policy Orphan exists until no ownerReference refers to it.
//
// # How it works
//
// The [Collector] observes the watch cache. It keeps an index of dependents by the UID of their owner, and enqueues
// objects that a change may affect: a dependent is created or its references change; an owner is deleted, or starts
// to wait; a waiting owner is no longer blocked. A write of an object without owners costs two comparisons. An object is
// reconciled with the state of the cache at that time; its deletion is conditional on unchanged ownerReferences.
//
// All state is derived from the objects. After a restart or a change of the leader, all dependents are reconciled once.
//
// A dependent that has an owner of a kind that is not served is not reconciled until the kind is served, because the
// owner may exist. References to owners in other namespaces are dangling, and reported as an Event. A cluster-scoped
// object cannot have a namespaced owner; such an object is never deleted.
//
// # Files
//
//	collector.go  observer and workqueue
//	index.go      index of dependents by the UID of their owner
//	reference.go  parses and edits ownerReferences
//	reconcile.go  reconciliation of one object
//	write.go      deletes objects, removes references and finalizers
//	event.go      Events about invalid references
package garbagecollector
