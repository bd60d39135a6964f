// Package workqueue is how controllers of the server work: what is to be done has a name, such as the key of
// an object; it is done by one worker at a time, and again, ever less often, until it is done.
//
// # Where to look
//
//	queue.go  a queue of tasks, and its workers
package workqueue
