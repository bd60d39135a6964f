// Package pebble is the embedded implementation of storage.Store: a folder with a Pebble database.
//
// # The folder
//
//	FORMAT     the version of this layout; a folder of a newer version is rejected
//	LOCK       locked while the store is open
//	OWNER      the process that holds the lock, for the error message of other processes
//	CHECKPOINT the last acknowledged revision, see checkpoint.go
//	*.log, *.sst, MANIFEST-*, …    Pebble's own files
//
// # Records
//
// Every version of an item is a record, which is written once and never changed. The log contains one record per commit.
// Numbers are encoded in big endian, so that records sort by them; the revisions of item versions are inverted (^REVISION), so
// that the newest version sorts first.
//
//	d KEY 0 ^REVISION    1 VALUE, or 0 if the item was deleted
//	l REVISION           time, and the keys with their previous revisions
//	m compacted          the revision up to which history is compacted
//
// So the latest version of an item is the first record that starts with d KEY 0. A list at a revision scans the d records and
// takes, for each key, the first record that is not newer than the revision. A watch from a past revision scans the l records,
// and so does compaction: the versions that a commit replaced are obsolete as soon as that commit is the oldest one of the
// history.
//
// # Group commit
//
//	Commit     validates the writes, puts them into a queue and waits
//	committer  takes all commits from the queue after a short wait for more; compares the expected revisions, assigns
//	           revisions and applies the group to Pebble as one batch
//	acker      waits until the batch is synced, writes the checkpoint, notifies the watchers and acknowledges the commits
//
// Therefore many commits share one fsync, and the next batch is built while the disk syncs the previous one. Reads and watchers
// see only acknowledged commits:
//
//	acked <= committed    (both only increase)
//
// # Disk failures
//
// After a disk error it is unknown which data is on the disk, and Pebble cannot continue. Commits in progress fail with a
// storage.UnknownError; later commits are rejected with an error that contains the disk error. Reads continue. Opening the
// folder again recovers all acknowledged commits.
//
// # Where to look
//
//	open.go         the folder, Options, Open and Close
//	layout.go       the encoding of records
//	commit.go       Commit, committer and acker; commitqueue.go: their queue; recentitems.go: the cache of the committer
//	read.go         Get and List
//	history.go      past commits, from memory or from disk
//	watch.go        watchers
//	compaction.go   compaction of history, on request and by age and size
//	space.go        the size and the free space of the folder, and the alarm that rejects commits
//	failure.go      disk failures; blockingfs.go: keeps Pebble from ending the process after one
//	corruption.go   detection of corrupt files
//	checkpoint.go   the last acknowledged revision, stored outside of Pebble
//	restore.go      Restore, which creates a store from the items of a backup
//	check.go        Check, which verifies a whole store
//	salvage.go      Salvage, which reads the readable part of a damaged store; salvagefiles.go: its tables and logs, block by block
package pebble
