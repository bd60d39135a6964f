// Package storage is where objects are kept: one small interface, which an embedded engine
// (store/local) and etcd v3 fulfil alike. storetest is its conformance suite, which every
// backend runs.
//
// # Vocabulary
//
//   - A key is a path such as apps/deployments/default/web, a value any bytes.
//   - A commit writes some keys, all or none. It has a revision: commits are numbered, by
//     numbers that only grow, restarts included.
//   - The revision of an item is that of the commit that wrote it last.
//   - History is what was before: it can be listed and watched from any revision since the
//     last compaction.
//
// # What every backend promises
//
//   - A commit that was acknowledged is there after a crash of the process or of the
//     machine, whole, at its revision. One that failed with an *UnknownError may be there, or
//     not; one that failed otherwise is not.
//   - Reads and watches show only what is acknowledged, or would be if its writer still
//     waited: what they show is there after a crash, too.
//   - A read that begins after a commit was acknowledged shows it.
//   - A watcher gets every event with its key's prefix once, in the order of revisions, all
//     of a revision at once.
//
// # How each call maps to etcd v3
//
//	Get       Range(key)
//	List      Range(after or prefix, end of prefix, limit, revision); the header's revision is
//	          the page's. ErrCompacted is ErrCompacted.
//	Commit    Txn: If mod_revision(key) == expected for every key, Then Put or DeleteRange
//	          (nothing for those that are kept), Else Range of every key, which tells the one
//	          that lost. The header's revision is the commit's. A request that timed out is an
//	          UnknownError.
//	Watch     Watch(prefix, start_revision = after+1, prev_kv, progress_notify); a watch
//	          response is a batch, a progress notification one without events. A response with
//	          compact_revision is ErrCompacted. A watch from the past also requests progress, to
//	          hear when that is over. Fragmented responses are put together, so that
//	          a revision stays whole.
//	Compact   Compact(revision)
//	Revision  the revision in the header of any linearizable Range
//
// The one thing that is stricter here than in etcd: after Compact(r), a watch may start
// after r, but no longer at r itself.
//
// # Where to look
//
//	store.go       the interface and what it speaks of
//	errors.go      what can go wrong
//	storetest/     the conformance suite, and a model of a store to compare with
//	local/         the embedded backend
package storage
