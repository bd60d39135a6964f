// Package pebble keeps a store in a folder, with Pebble.
//
// # What is in the folder
//
//	FORMAT     the version of this layout; a folder of a newer one is refused
//	LOCK       held as long as the store is open
//	OWNER      who holds it, for the error that others get
//	CHECKPOINT how far the store has come, see checkpoint.go
//	*.log, *.sst, MANIFEST-*, …    Pebble's own files
//
// # What is in Pebble
//
// Every version of an item is a record of its own, written once and never changed. A log
// has one record a commit. Numbers are big endian, so that they are in order; those of
// versions are inverted, so that the newest comes first.
//
//	d KEY 0 ^REVISION    1 VALUE, or 0 where the item was deleted
//	l REVISION           when, and which keys, with the revisions that they had before
//	m compacted          the revision up to which history is forgotten
//
// So an item is the first record at d KEY 0, the items at a revision are found by going
// through d and taking of each key the first that is not newer, and history is found by
// going through l. Forgetting history goes through l as well: what a commit replaced is what
// nobody can see any more once that commit is the oldest that can be seen.
//
// # How a commit gets there
//
//	Commit     checks what it is given, puts it in a queue and waits
//	committer  takes all that is in the queue, and waits a moment for more; compares what is
//	           expected with what is there, gives each its revision, and hands all to Pebble
//	           as one batch
//	acker      waits until the disk has it, notes how far that is (checkpoint.go), tells the
//	           watchers, and answers the writers
//
// So many writers share one sync, and while the disk is busy with one batch the next is
// made. Reads and watchers see what the acker has seen, never more:
//
//	acked <= committed    both grow only
//
// # When the disk fails
//
// After an error of the disk nobody knows what is on it; Pebble has it that way, too. Commits
// under way fail with an UnknownError, later ones are refused with the reason. Reads go on.
// Opening the folder again recovers what is there.
//
// # Where to look
//
//	open.go       the folder, options, Open and Close
//	layout.go     records as bytes
//	commit.go     Commit, committer and acker; queue.go, where commits wait for company;
//	              recent.go, what was written last
//	read.go       Get and List
//	history.go    commits of the past, from memory or from disk
//	watch.go      watchers
//	trim.go       history is forgotten
//	failure.go    errors of the disk; parking.go, where Pebble has no way to go on after one
//	damage.go     files that are damaged are found and named
//	checkpoint.go how far it went, noted elsewhere
package pebble
