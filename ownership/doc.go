// Package ownership reports the owners of the fields of an object and moves fields between field managers. It consists
// of pure functions on objects that were read from any Kubernetes API server.
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
// [Extract] the configuration that a manager applies. [Release] removes fields from managers, [Transfer] moves fields to
// another manager, and [Migrate] and [TakeOver] move the fields of client-side apply to a manager of Server-Side Apply.
// These change managedFields only, never values: the result is new entries, from which [Patch] makes a JSON patch that
// the server rejects if the object was written in the meantime.
//
// All changes are idempotent. Fields do not lose their owner, unless the object does not have them at the version of the
// new owner's entry; [Move.Lost] has such fields. Other entries are preserved byte for byte.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/ownership.txt. The texts of errors
// may change in any release.
//
// Concurrency: all functions are safe for concurrent use. They do not modify their arguments.
//
// Memory: results share parts of the object and keep it alive. The caller may modify the slices of a result.
package ownership

// Files:
//
//	migrate.go          Migrate: from client-side to server-side apply
//	takeover.go         TakeOver: the migration of kubectl, which preserves the last-applied annotation
//	transfer.go         Release, Transfer, Owners
//	ownerchange.go      Result and Move; the common implementation: entries release fields, one entry receives them
//	selector.go         Selector
//	patch.go            Patch: new entries as a JSON patch
//	blame.go            Blame: the owners of every line; lines.go: formatting; otherversions.go: entries of other versions
//	extract.go          Extract: the configuration that a manager applies
//	plan.go             Compare: the effect of a write on values and owners
//	pathexpression.go   path expressions; resolve.go resolves them in an object
//	unset.go            unset markers at path expressions
//	restrict.go         restricting field sets of another version to the fields of an object
//	value.go            values by path without a schema, and owned values
