// Package storebench puts the same load on our store and on etcd: compare-and-swap of small values by
// many writers, durable on both sides, and watchers that follow them.
//
//	load.go      writers and watchers on a target, and the window in which they are measured
//	writer.go    one writer: its keys, its commits, its latencies
//	value.go     what is written
//	result.go    what a load came to
//	median.go    percentiles, medians and ratios over rounds
//	target.go    a store as the load sees it; a side starts one and puts a load on it
//	local.go     our side: the local store with its load in one process
//	etcd.go      the peer: etcd in a process of its own, the load on its client
//	server.go    the process that is etcd
//	child.go     this binary once more, as another process
//	cpu.go       CPU time of a process
//	disk.go      what the disk can do at best
//
// Each turn starts a new process with an empty folder, so that no turn pays for what another left behind.
// A binary that runs sides calls ServeIfChild first: it is what the processes are started from.
//
// CPU times are read below /proc: the package builds anywhere and runs on Linux.
package storebench
