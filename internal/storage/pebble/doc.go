// Package pebble is the embedded implementation of storage.Store: a folder with a Pebble database.
//
// # The folder
//
//	FORMAT     the version of this layout; a folder of a newer version is rejected
//	LOCK       locked while the store is open
//	OWNER      the process that has the lock, for the error message of other processes
//	CHECKPOINT the last acknowledged revision, see checkpoint.go
//	*.log, *.sst, MANIFEST-*, …    Pebble's own files
//
// # Records
//
// Every version of an item is a record, which is written once and never changed. The log has one record per commit. Numbers
// are big endian, so that they sort; the revisions of versions are inverted, so that the newest comes first.
//
//	d KEY 0 ^REVISION    1 VALUE, or 0 if the item was deleted
//	l REVISION           time, and the keys with their previous revisions
//	m compacted          the revision up to which history is compacted
//
// So the latest version of an item is the first record at d KEY 0; a list at a revision scans d and takes the first record of
// each key that is not newer; a watch from the past scans l. Compaction scans l, too: the versions that a commit replaced are
// obsolete when that commit is the oldest of the history.
//
// # Group commit
//
//	Commit     validates the writes, puts them into a queue and waits
//	committer  takes all commits from the queue after a short wait for more; compares the expected revisions, assigns
//	           revisions and applies the group to Pebble as one batch
//	acker      waits until the batch is synced, writes the checkpoint, notifies the watchers and acknowledges the commits
//
// So many commits share one fsync, and the next batch is built while the disk syncs the previous one. Reads and watchers see
// only acknowledged commits:
//
//	acked <= committed    both only increase
//
// # Disk failures
//
// After an error of the disk its contents are unknown, and Pebble cannot continue. Commits in progress fail with a
// storage.UnknownError, later ones are rejected with the reason. Reads continue. Opening the folder again recovers all
// acknowledged commits.
//
// # Where to look
//
//	open.go         the folder, Options, Open and Close
//	layout.go       the encoding of records
//	commit.go       Commit, committer and acker; commitqueue.go, the queue; recentitems.go, the cache of the committer
//	read.go         Get and List
//	history.go      past commits, from memory or from disk
//	watch.go        watchers
//	compaction.go   compaction of history, on request and by age and size
//	failure.go      disk failures; blockingfs.go, where Pebble would end the process after one
//	corruption.go   detection of corrupt files
//	checkpoint.go   the acknowledged revision outside of Pebble
package pebble
