// Package flux tests the server with Flux' apply library.
//
// Files:
//
//   - main_test.go: the library, objects, and their managedFields
//   - apply_test.go: sets of objects: created, unchanged, corrected, pruned
//   - takeover_test.go: Flux takes over objects of other tools
//   - recreate_test.go: immutable fields: objects are deleted and created again
//   - wait_test.go: waiting for readiness and for termination
package flux
