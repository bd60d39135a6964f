// Package watchcache keeps the current objects and the recent events of a store in memory. All reads and watches are served
// from it. Writes go through it too, so that a client that has written an object reads its own write.
//
// # Terms
//
//   - An [Object] is one immutable version of an object: its canonical JSON without resourceVersion, which is
//     inserted when the object is encoded.
//   - A resource is identified by the text GROUP/RESOURCE; fields and parameters that hold this text are called Kind.
//   - An event is the change of one object by one commit: the versions of the object before and after the change.
//   - The event window holds the recent events, limited by the bytes that they keep alive. The horizon of a resource
//     is the revision after which its window is complete.
//   - A [Selection] selects objects of a resource by namespace, name, labels and fields.
//   - A topic is the index entry of the events for one selector: a namespace, a name, a label value or a field value.
//     It records the events since its first subscription that are still in the window.
//   - A form is a representation of an object that is computed on demand and cached: the parsed object, or a form that a
//     higher package registers with NewForm, such as an encoding.
//   - Progress is the revision up to which the cache has processed all commits.
//
// # Data flow
//
//	store ── reflector ──┬─ per resource: tree of objects, window, topics ── Get, List, Watcher.Next
//	                     ├─ observers
//	                     └─ progress ── Commit, and consistent reads
//
// The reflector is one goroutine. It receives batches from the store's watch, parses the values into objects, and then
// updates the tree, the window and the topics of one resource at a time, under the resource's lock. The changes of a commit
// to a resource become visible atomically. Then the reflector advances progress, which unblocks waiting writers and reads,
// wakes watchers, and trims the window.
//
// A reader takes a resource's lock only to find an object or to take a snapshot. The tree is copy-on-write, so a snapshot is
// immutable and costs only the nodes that later changes copy. A list at an earlier revision is computed by undoing the events
// of the window in reverse order.
//
// A watcher first catches up: with the initial state, with the store's history if it starts before the window, and with all
// events of its resource. From then on it is a position in the events of its topic. It has no queue, so a slow watcher keeps
// alive only the last batch that it received. When the window no longer contains its position, its next call fails with
// ErrTooOld. A watcher whose topic receives no events costs no CPU time; other watchers filter the events of their topic in
// their own goroutine.
//
// # Invariants
//
//   - The tree of a resource holds its objects at every revision from the resource's last event to progress.
//   - The window of a resource contains all of its events after the horizon: horizon <= revision of the first event in the
//     window.
//   - The events of a topic are the matching events of the window since its first subscription, in order. The
//     topic with the zero key is the window itself.
//   - The size of the window counts all memory that only the window keeps alive, including tree nodes that were copied because
//     of snapshots. A snapshot is released when it is older than the window. Not counted are the nodes of snapshots that
//     were computed by undoing events; there are at most 64 of them per resource.
//
// # Keys and values
//
// A key is GROUP/RESOURCE/NAMESPACE/NAME, or GROUP/RESOURCE/NAME for cluster-scoped objects; the core group is "core". Values
// are canonical JSON objects with metadata.name. Lists are ordered by key, as in etcd.
//
// All objects that one commit writes have the same revision. A client resumes a watch from the revision of the last object
// that it received; if it lost the connection between two objects of one commit, it would miss the second. Therefore objects
// that clients watch are written one per commit.
//
// # Files
//
//	open.go            options, Open, Commit, Close; errors.go
//	key.go             keys
//	object.go          Object: spans, labels, fields; layout.go: finds them in the JSON
//	metadata.go        UID, deletionTimestamp, ownerReferences and finalizers, read without parsing
//	form.go            forms and their eviction; gcpacing.go: memory shortage, and pacing of Go's garbage collector
//	tree.go            copy-on-write tree of objects
//	selection.go       selections and their matchers
//	resource.go        one resource: tree, window, topics, snapshots
//	window.go          event window; topic.go: the events of one selector
//	reflector.go       the reflector; load.go: the initial list; pendingcommits.go: objects of commits in progress
//	progress.go        waiting for a revision; freshness.go: consistency of reads
//	read.go            Get and List
//	watch.go           Watcher; stage.go: its stages (initial state, history, recent events)
//	observer.go        synchronous observers of all changes
//	pastsnapshots.go   lists at earlier revisions, from the window or from the store's history
//	backfill.go        fills the window with events from before the cache was opened
package watchcache
