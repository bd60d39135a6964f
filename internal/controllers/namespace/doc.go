// Package namespace removes what is in a namespace that was deleted, and then the namespace.
//
// # How a namespace goes
//
// A deletion marks it, and from then on nothing can be created in it: every creation is committed
// on the condition that the namespace is as it was when it was looked at. The [Remover] sees that, and
// deletes what is in it: first the pods, then, when those are gone, all else. Objects that have
// finalizers, or time, are waited for, and the conditions of the namespace tell of them. When it is
// empty, the remover takes its own finalizer from the namespace; the namespace goes with its last
// finalizer. Nothing is remembered but what the objects say, so that a server that is started again
// goes on.
//
// # Where to look
//
//	remover.go     sees which namespaces are to go
//	content.go     deletes what is in them
//	conditions.go  tells what is left
package namespace
