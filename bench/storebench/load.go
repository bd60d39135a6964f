package storebench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// A Load is writers that each update their own keys, one commit after the other, and watchers that
// follow all that is written.
type Load struct {
	Writers  int
	Watchers int
	// Warmup passes, with all at work, before the window in which they are measured.
	Warmup time.Duration
	Window time.Duration
}

// errTooShort is the error of a load that has nothing to say.
var errTooShort = errors.New("no commit ended in the time that is measured: make it longer")

// A run is a load at work on a target.
type run struct {
	Load
	target Target
	fail   context.CancelCauseFunc
	// created is done when all writers have made their keys; begin is closed when the window is known.
	created  sync.WaitGroup
	begin    chan struct{}
	from, to time.Time
	events   atomic.Int64
}

// Run puts the load on a target:
//
//  1. watchers start, writers create their keys
//  2. the window is set, writers update their keys while the warm-up and the window pass
//  3. CPU and events are read where the window begins and where it ends
//  4. each writer stops after the first commit that ends outside the window
func (l Load) Run(ctx context.Context, target Target) (Result, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r := &run{Load: l, target: target, fail: fail, begin: make(chan struct{})}

	endWatches := r.startWatchers(ctx)
	defer endWatches()
	writers, wait := r.startWriters(ctx)
	r.created.Wait()
	r.from = time.Now().Add(l.Warmup)
	r.to = r.from.Add(l.Window)
	close(r.begin)

	before := r.readAt(ctx, r.from)
	after := r.readAt(ctx, r.to)
	wait()
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	return summarize(l, before, after, writers)
}

// startWatchers returns what ends them.
func (r *run) startWatchers(ctx context.Context) (end func()) {
	ctx, cancel := context.WithCancel(ctx)
	count := func(events int) { r.events.Add(int64(events)) }
	var running sync.WaitGroup
	for range r.Watchers {
		running.Go(func() {
			if err := r.target.Watch(ctx, count); err != nil && ctx.Err() == nil {
				r.fail(err)
			}
		})
	}
	return func() {
		cancel()
		running.Wait()
	}
}

// startWriters returns what waits for them.
func (r *run) startWriters(ctx context.Context) (writers []*writer, wait func()) {
	r.created.Add(r.Writers)
	var running sync.WaitGroup
	for i := range r.Writers {
		w := newWriter(i)
		writers = append(writers, w)
		running.Go(func() {
			if err := w.work(ctx, r); err != nil {
				r.fail(err)
			}
		})
	}
	return writers, running.Wait
}

// A reading is what has been used and delivered up to some time.
type reading struct {
	cpu    time.Duration
	events int64
}

func (r *run) readAt(ctx context.Context, at time.Time) reading {
	select {
	case <-ctx.Done():
	case <-time.After(time.Until(at)):
	}
	cpu, err := r.target.CPU()
	if err != nil {
		r.fail(err)
	}
	return reading{cpu: cpu, events: r.events.Load()}
}
