// Package managedfields migrates the managedFields of custom resources when the schema of their CustomResourceDefinition
// changes.
//
// # Problem
//
// The paths in the field set of a managedFields entry depend on the topology of a schema: an atomic list is one path,
// and each item of an associative list is a path with its key. If an update of a CRD changes list types, map types
// or keys, or removes the version that an entry was written at, the paths in stored entries no longer exist. An apply
// would then not prune fields that its field manager no longer applies, and would miss conflicts. Therefore every entry
// is mapped to the new topology, using the values of the object, before the first write with the new schema.
//
// # Persisted state
//
// Two types of records are stored beside the API objects. G is the generation of the current CRD.
//
//   - Previous generations of a CRD: RecordPrevious stores the CRD that an update replaces in the same
//     commit as the update, so that a crash cannot separate them.
//   - Pending entries, which could not be migrated yet (manager, operation, version, subresource and time of the entry,
//     and the generation that it conforms to), with M, the generation that all other entries have been migrated to.
//
// # Algorithm
//
//  1. Block. The CRD controller calls [Migrator.Prepare] before it registers the kind of the new generation. If
//     previous generations exist that are not older than M, writes to the new kind are blocked. Then the controller
//     registers the kind and calls [Migrator.Track] and [Migrator.Start].
//  2. Drain. New writes that use the replaced kind are rejected, so that the server retries them with the new kind;
//     writes in flight finish. Then the CRD is added to the workqueue. A migration to the replaced kind is
//     interrupted.
//  3. Migrate. For each entry of each object, newChain computes the chain of topologies from the generation that the
//     entry conforms to up to G. The object is converted to the version of the entry if it is not stored at that
//     version; the entry's field set is mapped along the chain; the object's managedFields are written with
//     compare-and-swap. If the version was removed and conversion is None, the entry moves to the storage version.
//  4. Record, in one commit: M = G, the entries that could not be migrated, and the deletion of the previous
//     generations that no entry conforms to.
//  5. Unblock writes.
//  6. Retry steps 3 and 4 for pending entries, with exponential backoff, until no entry is pending.
//
// # Invariants
//
//		previous generations p₁ < p₂ < … < pₙ < G
//		0 ≤ M ≤ G
//		p₁ ≤ e < M               for the generation e of every pending entry
//		c ≥ M                    for the generation c that an entry conforms to that is not pending (c ≥ p₁ if M = 0)
//		pₙ < M, or n = 0         while writes with generation G are admitted
//
//	  - A write with generation G is admitted only after the record M = G is durable, or if there was nothing to migrate.
//	    So the entry of such a write is always distinguishable from an entry that still has to be migrated: it is not
//	    pending, or has another time than the pending entry.
//	  - Mapping is idempotent: an entry that conforms to any topology of a chain conforms to the last topology afterwards.
//	  - At most one migration per CRD runs in a server. Only managedFields are written, and only by
//	    compare-and-swap at the revision that was read.
//
// # Failures
//
//   - Crash before the update of a CRD is committed: there is nothing to migrate.
//   - Crash in steps 1 to 3: the next start finds pₙ ≥ M, blocks writes and repeats step 3; entries that were migrated
//     already are mapped again without effect.
//   - Crash in step 4: the first pending record is committed last and together with all deletions, so that the next start
//     finds either the previous or the new state; additional records without their first record are ignored, and the next
//     update deletes them.
//   - Crash in step 6: the entries that were migrated after the last record are migrated again, with the values that the
//     object has at that time. As an effect, an entry that owned an empty atomic field may own keys that other field
//     managers have added to it since.
//   - Conversion webhook unavailable (no connection, timeout, 429, 502, 503 or 504): the entries whose objects it should
//     convert are not changed and become pending. The webhook is not called again in the same pass.
//   - Conversion webhook rejects an object: the entries of the object are not changed and not retried, because the
//     webhook would reject the object again.
//   - Removed version and conversion by webhook: entries are not changed; the next apply drops them.
//   - A write to an object fails: after a conflict the object is read and migrated again; after any other error its
//     entries become pending.
//   - State cannot be read, or step 4 fails: step 3 is repeated after Options.MinBackoff; writes remain blocked.
//   - The CRD changes again: the migration is interrupted, and the next migration starts from the recorded state.
//   - Several servers on one store: each server blocks its own writes and migrates; compare-and-swap orders their writes.
//     A server whose record conflicts continues with the record of the server that committed first.
//   - Shutdown: blocked writes remain blocked until their request ends, because of the first invariant.
//
// # Waiting requests
//
// Writes to the new kind wait for steps 2 to 4: for the writes in flight that use the replaced kind, for at most
// Options.ConversionTimeout (30 seconds) in total for conversion webhooks, and for the commits of step 3. A write whose
// request times out before gets status 504 (reason Timeout) and can be retried. Reads never wait. A deletion of the
// CRD waits for step 2 only.
//
// # Files
//
//	migrator.go   Migrator: the steps above, start and shutdown
//	pass.go       step 3: batches, conversion, compare-and-swap
//	chain.go      chains of topologies and mapping of field sets, without I/O
//	history.go    reads and writes the persisted state
package managedfields
