// Package storage defines the interface between the server and the database that stores its objects. Package pebble is the
// embedded implementation, package etcd is the implementation for several servers; package storagetest is the conformance suite
// that every implementation passes.
//
// # Vocabulary
//
//   - A key is a path such as apps/deployments/default/web; a value is any bytes.
//   - A commit is a transaction: it writes one or more keys atomically. Every commit has a revision, a number. Revisions
//     strictly increase, even across restarts; they need not be consecutive.
//   - The revision of an item is the revision of the commit that last wrote it (etcd's mod_revision).
//   - The history is the sequence of all commits since the last compaction. It can be listed and watched at any of its
//     revisions.
//
// # The contract
//
// Every implementation guarantees:
//
//   - Durability: a commit that was acknowledged survives a crash of the process and of the machine, as a whole and at
//     its revision. After an [*UnknownError] the commit may have been applied; after any other error it was not.
//   - Reads and watches return only durable (synced) commits.
//   - Linearizability: a Get, List or Revision that begins after a commit was acknowledged reflects it.
//   - A watcher returns every event of its prefix once, in the order of revisions; the events of a revision are in one
//     batch.
//   - Progress: a watcher reaches every revision that Revision has returned, without further commits. The watch cache
//     delays consistent reads and the acknowledgement of commits until its watcher has reached their revision, so the
//     latency of a watch is part of the latency of every write.
//   - Values are opaque: they are returned byte for byte. An empty value is not a deletion.
//   - Memory: the store and its callers share values. Neither modifies a value after it was passed to Commit or returned.
//     An event may hold the very slice that was passed to Commit, or a copy of it.
//
// # How the watch cache uses a store
//
// The watch cache (internal/watchcache) is the only caller. It lists all items when it is opened, then watches the prefix ""
// from that revision. Two of its optimizations depend on the store; both are optional for an implementation:
//
//   - The cache recognises its own commits among the events by the address of their value, and then reuses the object
//     that it parsed before the commit. If the store returns a copy of the value, the cache parses it a second time.
//   - The cache sets [Write.Seen] if it has seen the item at its expected revision. A store that remembers the keys of all
//     commits after Seen can check the expected revision without reading the item. A store may ignore Seen.
//
// If [Store.IsShared] is false the server assumes that no other process writes to the store: controllers run without leader
// election.
//
// # How each method maps to etcd v3
//
//	Get       Range(key)
//	List      Range(after or prefix, end of prefix, limit, revision); the header's revision becomes Page.Revision. etcd's
//	          ErrCompacted is translated to ErrCompacted.
//	Commit    Txn: If mod_revision(key) == expected for every key, Then Put or DeleteRange (nothing for Keep), Else Range
//	          of every key, which finds the conflicting key. The header's revision is that of the commit. A request that timed
//	          out is an UnknownError.
//	Watch     Watch(prefix, start_revision = after+1, prev_kv, progress_notify); a watch response is a batch, a progress
//	          notification a batch without events. A response with compact_revision is ErrCompacted. A watch from the
//	          past, and a watch that has to reach a revision, requests progress. Fragmented responses are assembled, so that
//	          the events of a revision are in one batch.
//	Compact   Compact(revision)
//	Revision  the revision in the header of a linearizable Range
//
// # Where to look
//
//	store.go       Store, Watcher and their types
//	errors.go      errors, and CheckCommit, which validates commits for all implementations
//	storagetest/   the conformance suite, and a reference model with which the results of random operations are compared
//	pebble/        the embedded implementation
//	etcd/          the implementation in an etcd cluster
//	kubernetes/    translates the keys and values of another store to those of kube-apiserver
//	encryption/    a Store that encrypts the values of another store
//	backup/        backups: files with all items at one revision, for every implementation
package storage
