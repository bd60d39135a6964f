// Package storebench puts the same load on our store, on the cache before it, and on etcd:
// compare-and-swap of small objects by many writers, durable on all sides, and watchers that follow them.
// And it has each keep a fleet: many objects, to be opened and listed.
//
//	load.go      writers and watchers on a target, and the window in which they are measured
//	writer.go    one writer: its keys, its commits, its latencies
//	watcher.go   the watchers: what they got, whether they were cut off
//	object.go    what is written
//	result.go    what a load came to
//	target.go    a store as the load sees it; a side starts one and puts a load on it
//	local.go     our side: the local store with its load in one process
//	cache.go     our side with the cache, in one process as well
//	etcd.go      the peer: etcd in a process of its own, the load on its client
//	server.go    the process that is etcd
//	child.go     this binary once more, as another process
//	profile.go   profiles of those processes
//	fleet.go     many objects, and a folder that is filled with them
//	opening.go   such a folder is opened: the time it takes, and the memory
//	listing.go   a fleet is listed from the cache, beside plain copying
//	etcdfleet.go etcd is filled, started and lists
//	memory.go    what memory a process has, and what of it Go's heap
//	disk.go      what the disk can do at best
//
// Each turn starts a new process with an empty folder, so that no turn pays for what another left behind.
// A binary that runs sides calls ServeIfChild first: it is what the processes are started from.
//
// CPU times and memory are read by package proc: the package builds anywhere and runs on Linux.
package storebench
