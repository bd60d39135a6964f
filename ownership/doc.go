// Package ownership reports which field managers own the fields of an object, and moves the ownership of fields between
// field managers. It consists of pure functions on objects that were read from any Kubernetes API server.
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
// The package example runs this code; example_test.go contains an example of each operation.
//
// # Operations
//
// [Blame] returns the owners of every line of an object, [Compare] returns the effect of a write on values and owners, and
// [Extract] returns the configuration that a field manager applies.
//
// [Release] removes fields from field managers, [Transfer] moves fields to another field manager, and [Migrate] and
// [TakeOver] move the fields of client-side apply to a field manager of Server-Side Apply. These four change managedFields
// only, never values: they return new managed fields entries, from which [Patch] makes a JSON patch that the server rejects
// if the object was written in the meantime. They are idempotent. A field that is transferred or migrated has an owner
// afterwards, unless the object does not have the field at the API version of the receiving entry; [Move.Lost] lists such
// fields. Entries that are not affected are preserved byte for byte.
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
//	selector.go         Selector: selection of managed fields entries
//	patch.go            Patch: new managed fields entries as a JSON patch
//	blame.go            Blame: the owners of every line of an object
//	lines.go            YAML lines and list items for Blame
//	otherversions.go    entries of other API versions in Blame
//	extract.go          Extract: the configuration that a field manager applies
//	plan.go             Compare: the effect of a write on values and owners
//	pathexpression.go   syntax and parser of path expressions
//	resolve.go          resolution of path expressions in an object
//	unset.go            unset markers in a configuration, placed by path expressions
//	restrict.go         restriction of a field set of another API version to the fields of an object
//	value.go            lookup of values and owned values by path
