// Package storebench runs the same load on Cadastre's embedded store, on the watch cache on top of it, and on etcd: durable compare-and-swap
// of small objects by many writers, and watchers. It also measures opening and listing a fleet, a large number of objects.
//
//	load.go      concurrent writers and watchers, and the measured window
//	writer.go    a writer: keys, commits, latencies
//	watcher.go   watchers: received events, restarts of slow watchers
//	object.go    generated pods
//	result.go    the result of a load
//	target.go    Target, the interface of a store under load; Implementation, which starts one
//	local.go     the embedded store, with the load in its process
//	cache.go     the embedded store with the watch cache, with the load in its process
//	etcd.go      etcd in a separate process, with the load on its client
//	server.go    the process of etcd
//	child.go     child processes of this binary
//	profile.go   CPU profiles of child processes
//	fleet.go     a fleet, and filling a folder with it
//	opening.go   time and memory of opening a fleet
//	listing.go   listing a fleet from the cache, compared with copying
//	etcdfleet.go filling, starting and listing etcd
//	memory.go    resident memory and heap of a process
//	disk.go      maximum speed of the disk
//
// Each turn starts a new process with an empty folder, so that turns are independent. A binary that runs loads must
// call ServeIfChild first, because the processes are child processes of the same binary.
//
// Package proc reads CPU times and memory: the package builds on all platforms and runs on Linux.
package storebench
