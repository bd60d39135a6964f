// Package informer delivers the objects of some resources, and their changes, to a handler that keeps an index of them, such
// as the rules of the RBAC authorizer or the configurations of admission webhooks.
//
// # Invariants
//
//   - The handler receives all objects of each resource before Start returns, then every change, in order. Its
//     methods are never called concurrently.
//   - Sync returns after the handler has received a write, so that the write takes effect for the writer's next request.
//   - If a resource cannot be read, the handler keeps its state, and the list is retried.
package informer
