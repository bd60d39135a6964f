// Package flux tries the server with the library by which Flux applies what it finds in repositories.
//
// Where to look:
//
//   - main_test.go: the library, objects, and who owns what in them
//   - apply_test.go: sets of objects: created, unchanged, corrected, pruned
//   - takeover_test.go: what other tools have applied becomes Flux's
//   - recreate_test.go: what can't be changed is made anew
//   - wait_test.go: until all is ready, or gone
package flux
