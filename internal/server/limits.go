package server

import (
	"context"
	"sync"
	"time"
)

// DefaultRequestTimeout is the default of Limits.RequestTimeout.
const DefaultRequestTimeout = time.Minute

// Limits bounds the resources that requests can use. A field with the value 0 means the default.
type Limits struct {
	// RequestTimeout (default 1m) is the maximum duration of a request that is not a watch. It also limits the time for receiving
	// a request body.
	RequestTimeout time.Duration
	// ProgressTimeout (default 10s) is the maximum time in which a client receives a piece of a response, and in which the first
	// part of a body arrives. It is at most RequestTimeout.
	ProgressTimeout time.Duration
	// MaxStalledBytes (default 64 MiB) is the maximum memory of responses that wait for their clients.
	MaxStalledBytes int
	// MaxBodyBytes (default 3 MiB) is the maximum size of a request body.
	MaxBodyBytes int64
	// MemoryBudget (default 1 GiB) is the maximum memory in bytes of all request bodies together, and of the documents that are
	// decoded from them. It is estimated. Requests beyond it are rejected with a 429.
	MemoryBudget int64
}

// withDefaults returns the limits with the defaults for fields that are 0.
func (l Limits) withDefaults() Limits {
	if l.RequestTimeout == 0 {
		l.RequestTimeout = DefaultRequestTimeout
	}
	if l.ProgressTimeout == 0 {
		l.ProgressTimeout = 10 * time.Second
	}
	l.ProgressTimeout = min(l.ProgressTimeout, l.RequestTimeout)
	if l.MaxStalledBytes == 0 {
		l.MaxStalledBytes = 64 << 20
	}
	if l.MaxBodyBytes == 0 {
		l.MaxBodyBytes = 3 << 20
	}
	if l.MemoryBudget == 0 {
		l.MemoryBudget = 1 << 30
	}
	return l
}

// writeDeadlines creates the contexts of writes. Writes that start at about the same time share a context, because a timer for
// each write would cost more than the lookup of its object. The context does not end when the client disconnects, because the
// client could not know whether an interrupted write was committed.
type writeDeadlines struct {
	mu      sync.Mutex
	last    context.Context
	renewAt time.Time // the time from which writes get a new context
}

// deadlineSteps is the maximum number of contexts that exist at the same time. The context of a write may end later than its
// timeout by at most timeout/deadlineSteps.
const deadlineSteps = 64

// context returns a context that ends between timeout and timeout+timeout/deadlineSteps after now.
func (d *writeDeadlines) context(timeout time.Duration, now time.Time) context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil || !now.Before(d.renewAt) {
		d.renewAt = now.Add(timeout / deadlineSteps)
		ctx, cancel := context.WithDeadline(context.Background(), d.renewAt.Add(timeout))
		context.AfterFunc(ctx, cancel)
		d.last = ctx
	}
	return d.last
}
