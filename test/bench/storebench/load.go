package storebench

import (
	"context"
	"errors"
	"sync"
	"time"
)

// A Load is writers that each update their own keys, one commit after the other, and watchers that
// follow all that is written.
type Load struct {
	Writers  int
	Watchers int
	// Labelled has each watcher ask for a label of its own that nothing has which is written. Only
	// the cache knows labels.
	Labelled bool
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
	watchers watchers
}

// Run puts the load on a target:
//
//  1. watchers start, then writers create their keys
//  2. the window is set, writers update their keys while the warm-up and the window pass
//  3. CPU and events are read where the window begins and where it ends
//  4. each writer stops after the first commit that ends outside the window
//  5. watchers get the time that the window took to get what they have not got yet
func (l Load) Run(ctx context.Context, target Target) (Result, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r := &run{Load: l, target: target, fail: fail, begin: make(chan struct{})}

	r.startWatchers(ctx)
	defer func() { r.watchers.end() }()
	writers, wait := r.startWriters(ctx)
	r.created.Wait()
	r.from = time.Now().Add(l.Warmup)
	r.to = r.from.Add(l.Window)
	close(r.begin)

	before := r.readAt(ctx, r.from)
	after := r.readAt(ctx, r.to)
	wait()
	lag, missing := r.watchers.drain(ctx, r.expected(writers), l.Window)
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	result, err := summarize(l, before, after, writers)
	result.Lag, result.Missing, result.CutOff = lag, missing, int(r.watchers.cutOff.Load())
	return result, err
}

// expected is how many events there are for all watchers together.
func (r *run) expected(writers []*writer) (events int64) {
	if r.Labelled {
		return 0
	}
	for _, w := range writers {
		events += int64(w.commits) * int64(r.Watchers)
	}
	return events
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
	calls  int64
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
	return reading{cpu: cpu, events: r.watchers.events(), calls: r.watchers.calls()}
}
