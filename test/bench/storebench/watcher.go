package storebench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errCutOff says that a watcher was too slow: it has missed something and has to start anew.
var errCutOff = errors.New("the watcher was cut off")

// A Watcher is one that a load has at a target.
type Watcher struct {
	number int
	once   sync.Once
	ready  *sync.WaitGroup
	// calls is how often some of the events came, as many as were there.
	events, calls atomic.Int64
	// Counters of different watchers must not share what cores fight over.
	_ [64]byte
}

// Ready says that all which is written from now on will be told.
func (w *Watcher) Ready() { w.once.Do(w.ready.Done) }

// Count says that so many events were told at once.
func (w *Watcher) Count(events int) {
	w.events.Add(int64(events))
	w.calls.Add(1)
}

// watchers are those of a run.
type watchers struct {
	list   []*Watcher
	ready  sync.WaitGroup
	cutOff atomic.Int64
	end    func()
}

// startWatchers returns when all of them are ready, or the run has failed.
func (r *run) startWatchers(ctx context.Context) {
	watching, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	r.watchers.ready.Add(r.Watchers)
	for i := range r.Watchers {
		w := &Watcher{number: i, ready: &r.watchers.ready}
		r.watchers.list = append(r.watchers.list, w)
		running.Go(func() {
			defer w.Ready()
			r.watch(watching, w)
		})
	}
	r.watchers.ready.Wait()
	r.watchers.end = func() {
		cancel()
		running.Wait()
	}
}

// watch goes on after it was cut off, as clients do.
func (r *run) watch(ctx context.Context, w *Watcher) {
	for ctx.Err() == nil {
		err := r.target.Watch(ctx, w)
		switch {
		case ctx.Err() != nil:
		case errors.Is(err, errCutOff):
			r.watchers.cutOff.Add(1)
		default:
			r.fail(err)
			return
		}
	}
}

// events is how many watchers have got, all together.
func (ws *watchers) events() (total int64) {
	for _, w := range ws.list {
		total += w.events.Load()
	}
	return total
}

// calls is how often watchers were told something, all together.
func (ws *watchers) calls() (total int64) {
	for _, w := range ws.list {
		total += w.calls.Load()
	}
	return total
}

// drain waits until watchers have got so many events in all, but not for ever, and returns for how long
// it did and how many are missing.
func (ws *watchers) drain(ctx context.Context, expected int64, limit time.Duration) (lag time.Duration, missing int64) {
	start := time.Now()
	for {
		missing = max(0, expected-ws.events())
		if missing == 0 || time.Since(start) > limit || ctx.Err() != nil {
			return time.Since(start), missing
		}
		time.Sleep(time.Millisecond)
	}
}
