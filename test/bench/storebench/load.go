package storebench

import (
	"context"
	"errors"
	"sync"
	"time"
)

// Load is a number of concurrent writers, each of which updates its own keys with one commit at a time, and a number of
// watchers of all keys.
type Load struct {
	Writers  int
	Watchers int
	// Labelled makes each watcher select a different label value that no written object has. Only the watch cache
	// supports label selectors.
	Labelled bool
	// Warmup is the time under load before the measured Window.
	Warmup time.Duration
	Window time.Duration
}

// errTooShort is the error of a load in whose window no commit ended.
var errTooShort = errors.New("no commit ended within the measured window; increase -time")

// run is the state of a load that runs on a target.
type run struct {
	Load
	target Target
	fail   context.CancelCauseFunc
	// created is done when all writers have created their keys. begin is closed when the window has been set.
	created  sync.WaitGroup
	begin    chan struct{}
	from, to time.Time
	watchers watchers
}

// Run runs the load on target:
//
//  1. watchers start, then writers create their keys
//  2. the window is set; writers update their keys during the warm-up and the window
//  3. CPU time and events are read at the start and at the end of the window
//  4. each writer stops after the first commit that ends outside the window
//  5. watchers have the duration of a window to receive outstanding events
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

// expected returns the total number of events that the watchers together should receive.
func (r *run) expected(writers []*writer) (events int64) {
	if r.Labelled {
		return 0
	}
	for _, w := range writers {
		events += int64(w.commits) * int64(r.Watchers)
	}
	return events
}

// startWriters starts the writers. wait waits until they have stopped.
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

// reading contains the values of the counters at one point in time.
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
