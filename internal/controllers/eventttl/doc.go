// Package eventttl deletes events when their time is over. In a busy system there are more events than anything
// else, and nobody else removes them.
//
// An event lives for a while after it was last written. When that was is what it says itself: it is the latest
// of its creation and of the times in its managedFields. So a server that is started again goes on.
//
// # Where to look
//
//	expirer.go    deletes events in time
//	deadlines.go  which is next
package eventttl
