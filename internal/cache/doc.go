// Package cache has the current objects and the recent events of a store in memory. It serves
// all reads and watches; writes go through it, so that whoever wrote reads what was written.
//
// # Vocabulary
//
//   - An [Object] is one version of an object, and never changes: its JSON, in spans, without
//     its revision, which is put in its place when the object is written out.
//   - An event is what a commit did to one object: the version before and the one after.
//   - The window is the recent events. It is bounded by the bytes that it keeps alive.
//   - A [Selection] is some objects of a kind: by namespace, name, labels and fields.
//   - A topic is one thing that selections ask for: a namespace, a name, a value of a label or
//     of a field. It has those events of the window that touch it, and so it knows its watchers.
//   - A form is what an object was made into on demand: parsed, or in another encoding.
//   - Progress is the revision up to which the cache has seen all that happened.
//
// # Who does what
//
//	store ── follower ──┬─ kind: tree of objects, window, topics ── Get, List, Watcher.Next
//	                    └─ progress ── Commit, and reads that must be fresh
//
// The follower is one goroutine. It takes batches from the store's watch, makes objects of the
// values, and then, a kind at a time and under the kind's lock, puts them into the tree, the
// window and the topics. All that a commit did to a kind is seen at once. At last it moves
// progress on and wakes who waits for that.
//
// A reader holds a kind's lock only to find an object, or to take a snapshot: the tree is
// copied on write, so that a snapshot costs nothing and stays as it is. Lists of the past are
// found by undoing the events since, which the window has.
//
// A watcher is a place in a topic's events. It has no queue, so a slow one costs no memory:
// when the window has moved past it, its next call fails with ErrTooOld, and that is how it is
// cut off. Watchers that are not asked for cost nothing; those that are filter what the topic
// has too much of in their own goroutine. What is older than the window is read from the
// store's history, if it is still there.
//
// # What holds
//
//   - The tree of a kind has the state at every revision from that of the kind's last event to
//     progress.
//   - The window of a kind has all of its events after the kind's horizon:
//     horizon <= revision of the first event in the window.
//   - The events of a topic are those of the window after since that touch it, in order.
//   - An object that only the window keeps alive is counted in it. Snapshots and forms keep
//     nothing longer: a snapshot of the past is let go when the window has passed it.
//
// # Keys and values
//
// A key is GROUP/RESOURCE/NAMESPACE/NAME, without NAMESPACE for what has none; the group of the
// core is "core". A kind is named by GROUP/RESOURCE. Values are canonical JSON objects whose
// metadata has a name. Lists are in the order of keys, as etcd has them.
//
// A commit that writes several objects of one kind gives them one revision. Clients resume
// watches by the revision of the last object that they got, so that whoever loses the
// connection between two of them would miss the second: objects that clients watch are written
// one a commit.
//
// # Where to look
//
//	open.go       options, Open, Commit, Close
//	key.go        keys
//	object.go     an object, its spans, labels and fields; layout.go finds them in its JSON
//	form.go       forms, and how they are let go
//	tree.go       objects in order, copied on write
//	selection.go  which objects are meant
//	kind.go       a kind: what is now, what was, who watches
//	window.go     recent events; topic.go, those that touch one thing
//	follow.go     the follower; load.go, where it starts from
//	progress.go   waiting for a revision; freshness of reads
//	read.go       Get and List
//	watch.go      Watcher
//	past.go       what is older than the window
//	recall.go     the window goes back to before the cache was opened
package cache
