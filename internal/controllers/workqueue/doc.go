// Package workqueue provides the workqueue of controllers: a task, such as the key of an object, is processed by one
// worker at a time, and retried with exponential backoff until it is done. It wraps client-go's rate-limiting queue.
package workqueue
