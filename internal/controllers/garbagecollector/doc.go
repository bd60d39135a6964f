// Package garbagecollector deletes objects whose owners are deleted, and makes owners wait for their dependents, as
// Kubernetes' garbage collector does.
//
// # Terms
//
//   - A dependent is an object with ownerReferences; the referenced objects are its owners. An owner is identified by
//     kind, name and UID, and is in the namespace of the dependent or cluster-scoped.
//   - A reference is dangling if the owner does not exist, waiting if the owner waits for the deletion of its
//     dependents, and solid otherwise.
//   - An owner that is deleted in the foreground waits until no dependent whose reference has blockOwnerDeletion is
//     left.
//   - An owner that is deleted with orphaning waits until no dependent references it.
//
// # How it works
//
// The [Collector] observes the watch cache. It keeps an index of dependents by the UID of their owner, and enqueues
// objects that a change may affect: a dependent is created or its references change; an owner is deleted, or starts
// to wait; a waiting owner is no longer blocked. Objects without owners cost two comparisons. An object is reconciled
// with the state of the cache at that time; its deletion is conditional on unchanged owner references.
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
//	index.go      dependents by owner
//	reference.go  owner references
//	reconcile.go  reconciliation of one object
//	write.go      deletes objects, removes references and finalizers
//	event.go      Events about invalid references
package garbagecollector
