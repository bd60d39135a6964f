package server

import (
	"context"
	"sync"
	"time"
)

// deadlines has the contexts of writes, which end when a write has taken too long. Writes of the same moment
// share one: a timer for each costs more than it takes to find the object. A write does not end when its client
// goes away, which could not tell what has become of it.
type deadlines struct {
	mu    sync.Mutex
	last  context.Context
	until time.Time // when a new one is due
}

// moments are how many contexts there are at once, at most: a write may take longer by one part in so many.
const moments = 64

// within returns a context that ends after a limit.
func (d *deadlines) within(limit time.Duration, now time.Time) context.Context {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.last == nil || !now.Before(d.until) {
		d.until = now.Add(limit / moments)
		ctx, cancel := context.WithDeadline(context.Background(), d.until.Add(limit))
		context.AfterFunc(ctx, cancel)
		d.last = ctx
	}
	return d.last
}
