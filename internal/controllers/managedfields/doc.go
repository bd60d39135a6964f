// Package managedfields migrates the managedFields of custom resources when the schema of their CustomResourceDefinition
// changes.
//
// # Problem
//
// The field set of a managedFields entry describes fields by the topology of a schema: an atomic list is one path,
// the items of an associative list are paths by key. If an update of a definition changes list types, map types or
// keys, or removes the version that an entry was written at, stored entries describe fields that no longer exist in
// that form. An apply would then not prune fields that its manager no longer applies, and miss conflicts. Therefore
// every entry is mapped to the new topology, using the values of the object, before the first write by the new
// schema.
//
// # Persisted state
//
// Two types of records are stored beside the API objects. G is the generation of the current definition.
//
//   - Previous generations of a definition: RecordPrevious adds the definition that is replaced to the commit that
//     replaces it. A crash loses neither or both.
//   - Pending entries (manager, operation, version, subresource and time of the entry, and the generation that it
//     conforms to), with M, the generation that all other entries have been migrated to.
//
// # Algorithm
//
//  1. Block. The CRD controller calls [Migrator.Prepare] before it registers the kind of the new generation. If
//     previous generations exist that are not older than M, writers of the new kind are blocked. It registers
//     the kind and calls [Migrator.Track] and [Migrator.Start].
//  2. Drain. New writes by the replaced kind are rejected, which makes them look up the new kind; writes in flight
//     finish. Then the definition is added to the workqueue. A migration to the replaced kind is interrupted.
//  3. Migrate. For each entry of each object, the chain of topologies from the generation that the entry conforms to up to G
//     is computed (newChain). The object is converted to the version of the entry if it is not stored at that
//     version; the entry's field set is mapped along the chain; the object's managedFields are written with
//     compare-and-swap. If the version was removed and conversion is None, the entry moves to the storage version.
//  4. Record, in one commit: M = G, the entries that could not be migrated, and the deletion of the previous
//     generations that no entry conforms to.
//  5. Unblock writers.
//  6. Retry steps 3 and 4 for pending entries, with exponential backoff, until there are none.
//
// # Invariants
//
//		previous generations p₁ < p₂ < … < pₙ < G
//		0 ≤ M ≤ G
//		p₁ ≤ e < M               for the generation e of every pending entry
//		c ≥ M                    for the generation c that any other entry is taken to conform to (c ≥ p₁ if M = 0)
//		pₙ < M, or n = 0         while writers by generation G are admitted
//
//	  - A write by generation G happens after the record M = G is durable, or when there was nothing to migrate. So a write
//	    is always distinguishable from an entry that waits for its migration: it is not pending, or has another time.
//	  - Mapping is idempotent: an entry that conforms to any topology of a chain conforms to the last one afterwards.
//	  - At most one migration per definition runs in a server. Only managedFields are written, and only by
//	    compare-and-swap at the revision that was read.
//
// # Failures
//
//   - Crash before the update of a definition is committed: nothing happened. After it, in steps 1 to 3: the next start finds
//     pₙ ≥ M, blocks writers and repeats step 3; migrated entries are mapped again without effect. In step 4: the first
//     pending record is committed last and with all deletions, so the start finds the state before or after it;
//     additional records without it are ignored, and deleted by the next update. In step 6: the entries migrated since the
//     last record are migrated again, by the values that the object has then: an entry that owned an empty atomic field
//     may own keys that others have added to it meanwhile.
//   - Conversion webhook unavailable (no connection, deadline, 429, 502, 503 or 504): its entries are not changed and
//     are
//     pending. It is not called again in the same pass.
//   - Conversion webhook rejects an object: final. Its entries are not changed and not pending, because the same
//     definition would get the same answer.
//   - Removed version and conversion by webhook: entries are not changed; the next apply drops them.
//   - A write to an object conflicts: the object is read and migrated again. A write fails otherwise: its entries are
//     pending.
//   - State cannot be read, or step 4 fails: step 3 is repeated after Options.MinBackoff; writers stay blocked.
//   - The definition changes again: the migration is interrupted, and the next one starts from the recorded state.
//   - Several servers on one store: each blocks its own writers and migrates; compare-and-swap orders their writes. The
//     server whose record conflicts continues with the record of the other one.
//   - Shutdown: writers that are blocked stay blocked until their request ends, see the first invariant.
//
// # Waiting requests
//
// Writers of the new generation wait for steps 2 to 4: for the writes in flight by the replaced one, for
// Options.ConversionTimeout (30 seconds) in total for conversion webhooks, and for the commits of step 3. A write that
// waits longer than its request may take is answered 504 (reason Timeout) and can be retried. Readers never wait. A
// deletion of the definition waits for step 2 only.
//
// # Files
//
//	migrator.go   Migrator: the steps above, start and shutdown
//	pass.go       step 3: batches, conversion, compare-and-swap
//	chain.go      pure: chains of topologies, and mapping of field sets
//	history.go    the persisted state
package managedfields
