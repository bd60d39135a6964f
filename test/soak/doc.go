// Command soak runs a server for an hour, or for the time of the flag -time, with disturbances, and checks its
// invariants. make soak runs it; CI runs a short version.
//
// The server is the real program with a data directory. The run consists of cycles of random length. In each cycle polite users write,
// read and watch, a hostile user attacks from many connections, the disk becomes full and is freed again, and the wall clock jumps. The
// cycle ends with kill -9, sometimes with SIGTERM, under load. The server then starts on the same directory, and the states that it has
// confirmed are compared with those that it serves.
//
// # Invariants
//
// Objects. Each object has one writer, which numbers its writes. A write is confirmed (2xx), refused (4xx, or 507 for lack of space),
// or has an unknown result (no response, or another 5xx).
//
//	the state of an object = its newest confirmed state, or the result of a write after it with an unknown result
//
// A state that was read is confirmed, too. So no confirmed write is lost, no refused write is stored, no deleted object returns. The
// resourceVersion of a new state is greater than all earlier ones of the object, across restarts. A repeated apply changes nothing.
// The hot object has several appliers, each of which owns one field; the same holds for each field.
//
// Watches. A watch per namespace resumes from its newest resourceVersion. The resourceVersions of its events strictly increase, across
// connections and restarts; those of bookmarks never decrease. ADDED refers to an object that does not exist for the watch, MODIFIED and
// DELETED to one that exists. The sequence numbers of an object strictly increase. Every confirmed write has exactly one event. The objects
// that result from the events are equal to a list. A watch that receives 410 Gone lists again, which is counted as a gap.
//
// Errors. No request of a polite user fails, except writes while the disk is full, with a 5xx, and requests during a restart. Polite
// users receive neither 429 nor 503. A request of the hostile user never results in a 500, unless the disk is full. The server logs no panic.
//
// Bounds. The resident memory is below --memory-limit in every sample. After the hostile load has ended, goroutines and open files
// return to their numbers before the load, plus a constant.
//
// Disk. While the disk is nearly full, creations are refused, reads succeed, and writes succeed again without a restart once there is
// space. After a write has failed because the disk is full, reads succeed, and a restart recovers the server once /livez demands it.
//
// Clock. With -clock the wall clock of the server jumps by minutes to days, in both directions, while all of the above holds.
// creationTimestamp is the time of the moved clock.
//
// # Files
//
//	main.go       flags, the namespace, the run
//	cycle.go      one cycle: load, disturbances, kill, restart, verification
//	server.go     the process of the server
//	client.go     requests of users, and the errors that they may receive
//	disturbance.go  times at which requests may fail
//	object.go     the model of an object: confirmed state, unknown result, history
//	writer.go     polite writers and readers
//	hot.go        the object with several appliers
//	watcher.go    the watch of a namespace
//	verify.go     comparison of the model with lists
//	hostile.go    the hostile user, in a process of its own; attacks.go its requests
//	bounds.go     samples of memory, goroutines, files
//	disk_linux.go the namespace with a file system of limited size
//	clock.go      the build with a clock that can be moved
//	judge.go      violations and the summary
package main
