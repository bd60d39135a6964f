// Package apply is the engine of Server-Side Apply: functions that compute a new object from a live object and a
// request. It does no I/O and stores nothing.
//
//	engine, err := apply.New(apply.Options{Versions: apply.OneVersion("v1", schema.Untyped)})
//	if err != nil {
//		return err
//	}
//	live, err := apply.ReadObject(stored) // the zero Object if there is none yet
//	if err != nil {
//		return err
//	}
//	result, err := engine.Apply(live, config, apply.Request{Manager: "ci", Version: "v1", Time: time.Now()})
//	var conflict *apply.ConflictError
//	if errors.As(err, &conflict) {
//		… // conflict.Conflicts lists the fields, their field managers, the live and the applied values
//	}
//	stored = result.Object.JSON() // managedFields included
//
// The package example runs this code; example_test.go and example_versions_test.go contain more examples.
//
// # Operations
//
// [Engine.Apply] merges a configuration into the live object, removes the fields that the field manager applied before
// and no longer applies, and makes the field manager the owner of exactly the fields that it applies. [Engine.Update]
// records any other write: it compares the object before and after and makes the field manager the owner of the changed
// fields. A no-op returns the live object itself. [Engine.Extract] returns the fields that a manager owns, with their
// live values, as a configuration, and [Reconcile] adjusts managedFields to a schema that changed.
//
// An [Entry] is a managedFields entry: the fields that one manager owns, by operation, version and subresource. Several
// managers may own a field. A conflict is a field that an apply would change and that other managers own; a forced
// apply takes the field over. An unset marker, {k8s_io__value: unset}, is a value in a configuration that makes the
// applier the owner of the field and requires the field to be absent. Reset fields are the fields that an endpoint
// ignores in writes, for instance .status at the endpoint of the resource itself.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning and is listed in docs/api/apply.txt. Results equal those of
// kube-apiserver, except for the differences in docs/differences.md. The texts of errors may change in any release.
//
// Concurrency: an [Engine] is safe for concurrent use, and so are all functions. Objects are immutable: neither the
// engine nor the caller may modify the entries of an Object that is shared.
//
// Memory: a [Result] shares the unchanged parts of the live object and of the configuration, and keeps them alive.
package apply

// Files:
//
//	engine.go          Options, Engine, Result; Apply and Update, step by step
//	request.go         Request, and the validation that does not depend on the kind
//	object.go          Object, decoded from JSON and encoded as JSON with managedFields
//	entry.go           Entry, the identity and order of entries, untracked fields
//	versions.go        Versions, and conversion of documents between them
//	intent.go          intent: the merged document and the field set of a configuration
//	  validate.go      validation against the topology
//	  unset.go         unset markers
//	  created.go       unset markers at fields that the server sets when it creates an object
//	  fields.go        the field set of a document
//	  merge.go         merging a configuration into the live document
//	  walk.go          validation, field set and merge in one pass; walkitems.go for lists
//	managedfields.go   the entries of an object during an operation
//	  reconcile.go     field sets written for an older topology, and the cache of sets that fit
//	  updatelimit.go   MaxUpdateEntries: merging the oldest Update entries
//	prune.go           pruning: removing fields that an applier released, by sets and in one pass
//	compare.go         Changes between two documents; changes.go compares at each version
//	conflict.go        Conflict, ConflictError, and their detection
//	extract.go         Extract: the fields that an applier owns, as a configuration
//	items.go           granularity of a value, path elements of list items, list items that a set selects
//	edit.go            replacing and removing fields of a container, sharing the unchanged ones
//	errors.go          FieldError, InvalidError, EntryError, and descriptions of values in errors
//
// Every fast path has a plain equivalent that validates, merges, computes field sets and prunes in separate steps;
// Options.plain disables the fast paths. Tests compare the two with each other and with structured-merge-diff on random
// histories of requests. The fast paths rely on these facts:
//
//   - Merging, pruning and removing share unchanged subtrees with the live document, so comparing two documents
//     skips every subtree that both share.
//   - The field set of an applier is encoded as FieldsV1 while its configuration is walked. If the encoding equals the
//     FieldsV1 of the applier's entry, its field set did not change, and there is nothing to prune.
//   - A change conflicts with another manager only if that manager's FieldsV1 contains a changed field. The encoded
//     text is searched for the field, so most field sets are never decoded.
//   - The same FieldsV1 texts recur with nearly every request; a cache holds the hashes of texts that are known to fit
//     the current schema.
