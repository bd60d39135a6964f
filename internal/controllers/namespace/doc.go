// Package namespace deletes the content of a terminating namespace, and then the namespace.
//
// A deletion marks the namespace as terminating. From then on no object can be created in it: every creation is
// committed on the condition that the namespace has not changed since it was checked. The [Controller] deletes the
// content: first the pods, then, when those are deleted, all other objects. It waits for objects with finalizers or a
// grace period, and reports them in the conditions of the namespace. When the namespace is empty, the controller
// removes its own finalizer; the namespace is deleted with its last finalizer. All state is in the objects, so a
// restarted server continues.
//
// # Files
//
//	controller.go  watches namespaces, workqueue
//	content.go     deletes the content
//	conditions.go  writes the conditions
package namespace
