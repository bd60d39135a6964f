// Package eventttl deletes Events after their TTL. In a busy cluster there are more Events than any other objects,
// and no other controller deletes them.
//
// The TTL starts at the last write of an Event, which is derived from the Event itself: the latest of
// creationTimestamp and the times in managedFields. The controller has no other state, so it continues after a
// restart.
//
// # Files
//
//	expirer.go    deletes expired events
//	deadlines.go  heap of deadlines
package eventttl
