// Package etcd stores items in an etcd cluster. Any number of processes can use the same cluster at the same time.
//
// # Layout
//
// The item KEY is stored at PREFIX/KEY. Values are stored as they are; package kubernetes, which wraps a store, translates keys and
// values to those of kube-apiserver. Revisions are etcd's: the revision of an item is its mod_revision, the revision of a commit is
// that of its transaction. Other clients of the cluster increase the revision, too.
//
// # Guarantees
//
// The guarantees of package storage follow from those of etcd:
//
//   - A commit is one transaction. It compares the mod_revision of every key, and applies all writes or none. A commit that fails
//     before its request was written to a connection returns a *storage.UnavailableError, because it was not applied; a commit that
//     fails later returns a *storage.UnknownError.
//   - Get, List and Revision are linearizable. Concurrent calls of Revision share a request: a call joins a request that has not
//     been sent yet.
//   - A watch is a watch of etcd with previous values. If etcd no longer has the previous value of an event, because it was compacted,
//     the watch ends with ErrCompacted.
//   - Progress: etcd reports progress on its own only every ten minutes. The store knows the newest revision that it has returned to a
//     caller, and requests progress for the watchers that do not reach that revision within a few milliseconds.
//
// # Failures
//
// A probe reads from etcd every second. While it fails, commits fail at once with a *storage.UnavailableError, and Failure returns the
// cause. Watches reconnect and continue after the last revision that they received.
//
// # Files
//
//	options.go     Options; open.go: Open and Close
//	read.go        Get, List, Revision
//	commit.go      Commit; lease.go: leases of items that expire; sent.go: whether a request was sent
//	watch.go       Watch; progress.go: progress requests
//	compaction.go  periodic compaction, coordinated with kube-apiserver
//	failure.go     the probe, and translation of etcd's errors
package etcd
