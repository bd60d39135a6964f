// Package namespace deletes the content of a terminating namespace, and then the namespace.
//
// A deletion marks the namespace as terminating. After that, no object can be created in the namespace: every creation is
// committed on the condition that the namespace has not changed since admission checked it. The [Controller] deletes the
// content: first the pods, and when no pod is left, all other objects. It waits for objects with finalizers or a grace
// period, and reports them in the conditions of the namespace. When the namespace is empty, the controller removes its own
// finalizer; the namespace is deleted when its last finalizer is removed. All state is in the objects, so a restarted server
// continues an interrupted deletion.
//
// # Files
//
//	controller.go  watches and reconciles namespaces
//	content.go     deletes the content
//	conditions.go  writes the conditions
package namespace
