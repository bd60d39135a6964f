// Package informer keeps an index of all objects of some resources up to date, such as the rules of the RBAC authorizer, or
// the configurations of admission webhooks.
//
// # Invariants
//
//   - The keeper receives all objects of each resource before Start returns, then every change, in order. Its methods are
//     never called concurrently.
//   - Sync returns after the keeper has received a write, so that the writer's next request is judged by it.
//   - If a resource cannot be read, the keeper keeps its state, and loading is retried.
package informer
