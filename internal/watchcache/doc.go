// Package watchcache has the current objects and the recent events of a store in memory. It serves
// all reads and watches; writes go through it, so that whoever wrote reads what was written.
//
// # Vocabulary
//
//   - An [Object] is one version of an object, and never changes: its JSON, in spans, without
//     its revision, which is put in its place when the object is written out.
//   - An event is what a commit did to one object: the version before and the one after.
//   - The window is the recent events. It is bounded by the bytes that it keeps alive. The
//     horizon of a kind is the revision after which its window has all events.
//   - A [Selection] is some objects of a kind: by namespace, name, labels and fields.
//   - A topic is one thing that selections ask for: a namespace, a name, a value of a label or
//     of a field. It has the events that touch it and came since somebody watches it, as far back
//     as the window goes.
//   - A form is a representation of an object that is made on demand and kept: parsed, or one that a higher package
//     registers with NewForm, such as an encoding.
//   - Progress is the revision up to which the cache has seen all that happened.
//
// # Who does what
//
//	store ── follower ──┬─ kind: tree of objects, window, topics ── Get, List, Watcher.Next
//	                    ├─ observers
//	                    └─ progress ── Commit, and reads that must be fresh
//
// The follower is one goroutine. It takes batches from the store's watch, makes objects of the
// values, and then, a kind at a time and under the kind's lock, puts them into the tree, the
// window and the topics. All that a commit did to a kind is seen at once. Then it moves progress
// on, which answers writers and reads that wait, wakes watchers, and makes the window small
// enough.
//
// A reader holds a kind's lock only to find an object, or to take a snapshot: the tree is
// copied on write, so that a snapshot stays as it is and costs only the nodes that later changes
// copy. Lists of the past are found by undoing the events since, which the window has.
//
// A watcher first catches up: with the initial state, with the store's history if it comes from
// before the window, and with all events of its kind. Then it is a place in the events of its
// topic. It has no queue, so a slow one keeps alive only the events that it was given last: when
// the window has moved past it, its next call fails with ErrTooOld, and that is how it is cut
// off. Watchers whose topic nothing touches cost nothing; the others filter, in their own
// goroutine, what their topic has too much of.
//
// # What holds
//
//   - The tree of a kind has the state at every revision from that of the kind's last event to
//     progress.
//   - The window of a kind has all of its events after the kind's horizon:
//     horizon <= revision of the first event in the window.
//   - The events of a topic are those of the window that touch it and came after its first
//     watcher took its place, in order. The topic about all is the window.
//   - What only the window keeps alive is counted in it, nodes that were copied for snapshots
//     included. A snapshot is let go when the window has passed it. Not counted are the nodes
//     of states that were found by undoing; there are at most 64 a kind.
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
//	open.go       options, Open, Commit, Close; errors.go
//	key.go        keys
//	object.go     an object, its spans, labels and fields; layout.go finds them in its JSON
//	life.go       whether an object is to be deleted, and whose it is
//	form.go       forms and their eviction; gcpacing.go, memory shortage and the pace of the garbage collector
//	tree.go       objects in order, copied on write
//	selection.go  which objects are meant
//	kind.go       a kind: what is now, what was, who watches
//	window.go     recent events; topic.go, those that touch one thing
//	follow.go     the follower; load.go, where it starts from; pendingcommits.go, objects of commits under way
//	progress.go   waiting for a revision; freshness.go, how new reads must be
//	read.go       Get and List
//	watch.go      Watcher; stage.go, what it tells of: the state, the history, what is new
//	observe.go    for who must see all that happens
//	past.go       states of the past: by undoing, or from the store's history
//	recall.go     the window goes back to before the cache was opened
package watchcache
