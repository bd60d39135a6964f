// Package ownership reports the owners of the fields of an object and moves fields between field managers. It consists of
// pure functions on objects that were read from any Kubernetes API server.
//
//	object, err := apply.ReadObject(body)
//	if err != nil {
//		return err
//	}
//	result, err := ownership.Migrate(object, ownership.Migration{To: "kubectl"})
//	if err != nil || result.NoOp() {
//		return err
//	}
//	patch, err := ownership.Patch(object, result.Entries) // for a PATCH with application/json-patch+json
//
// The package example runs this; example_test.go has one for each operation.
//
// # Operations
//
// [Blame] returns the owners of every line of an object, [Compare] the effect of a write on values and owners, and
// [Extract] the configuration that a manager applies. [Release] makes managers give up fields, [Transfer] moves fields to
// another manager, and [Migrate] and [TakeOver] move the fields of client-side apply to a manager of Server-Side Apply.
// These change managedFields only, never values: the result is new entries, from which [Patch] makes a JSON patch that
// the server rejects if the object was written in the meantime.
//
// A change that is repeated is a no-op. Fields do not lose their owner, unless the object does not have them at the
// version of the new owner's entry; [Move] has those. Entries that are not involved are kept byte for byte.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/ownership.txt. The texts of errors may
// change in any release.
//
// Concurrency: all functions are safe for concurrent use. They do not modify their arguments.
//
// Memory: results share parts of the object and keep it alive. The caller may modify the slices of a result.
package ownership

// Files:
//
//	migrate.go     from client-side to server-side apply
//	takeover.go    the same as kubectl does it, which keeps the way back
//	transfer.go    release and transfer
//	move.go        what these have in common: some entries give fields up, one gets them
//	selector.go    which entries are meant
//	patch.go       new entries as a JSON patch
//	blame.go       the owners of every line; lines.go is how the lines are made, elsewhere.go what is at other versions
//	extract.go     the configuration that a manager effectively applies
//	plan.go        what a write does to values and owners
//	pathexpression.go  path expressions; resolve.go finds their fields in an object
//	unset.go       unset markers at path expressions
//	atversion.go   which fields of another version an object has
//	value.go       values by path, told apart by path elements alone, and what of them is owned
