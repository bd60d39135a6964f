// Package apply is the engine of Server-Side Apply: pure functions from a live object and a request to a new object.
// It does no I/O and stores nothing.
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
//		… // conflict.Conflicts has the fields, their owners and both values
//	}
//	stored = result.Object.JSON() // managedFields included
//
// The package example runs this; example_test.go and example_versions_test.go have more.
//
// # Operations
//
// [Engine.Apply] merges a configuration into the live object, removes the fields that the manager applied before and
// no longer applies, and makes the manager the owner of exactly the fields that it applies. [Engine.Update] records any
// other write: it compares the object before and after and makes the manager the owner of the changed fields. A no-op
// returns the live object itself. [Engine.Extract] returns the configuration of a manager, and [Reconcile] adjusts
// managedFields to a schema that changed.
//
// An [Entry] is a managedFields entry: the fields that one manager owns, by operation, version and subresource. Several
// managers may own a field. A conflict is a field that an apply would change and that others own; forcing takes it over.
// An unset marker, {k8s_io__value: unset}, is a value in a configuration that owns a field and requires it to be absent.
// Reset fields are the fields that an endpoint ignores.
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
//	engine.go      Options, Engine, Result; Apply and Update, step by step
//	request.go     Request, and the checks that do not depend on the kind
//	object.go      objects as bytes: managedFields taken out and put back
//	entry.go       entries, their identity and order
//	versions.go    the versions of a kind, and documents at them
//	intent.go      what a configuration sets: merged document and owned fields
//	  validate.go    does it fit the topology?
//	  unset.go       unset markers
//	  own.go         the fields that it sets
//	  merge.go       live document and configuration merged
//	  walk.go        all of these in one walk; walkitems.go for lists
//	owners.go      the entries during an operation
//	  reconcile.go   field sets that are older than the topology, and a cache of those that are not
//	  ancient.go     the oldest Update entries, merged into one
//	prune.go       the fields that an applier no longer applies, by sets and in one walk
//	compare.go     the differences of two documents; changesat.go at each version
//	conflict.go    conflicts
//	extract.go     the fields that an applier owns, as a configuration
//	items.go       how values are split: shape of a value, path elements of list items, items that a set selects
//	edit.go        containers with some fields replaced or removed
//	errors.go      errors and how values are described in them
//
// Every fast path has a plain twin that does one thing after the other, in terms of documents and sets; Options.plain
// disables the fast paths. Tests compare both with each other and with structured-merge-diff on random histories. The
// fast paths rely on these facts:
//
//   - Merging, pruning and removing share the unchanged parts with the live document, so that comparing looks only at
//     parts that changed.
//   - The field set of an applier is written as FieldsV1 while its configuration is walked. If that is the text of its
//     entry, its fields did not change, and there is nothing to prune.
//   - A change conflicts with another manager only if its FieldsV1 has a changed field. The text is searched for it, so
//     that most sets are never decoded.
//   - The same texts recur with nearly every request; a cache has those that are known to fit the current schema.
