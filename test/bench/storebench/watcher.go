package storebench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errCutOff is the error of a watcher that was too slow: it has missed events and has to restart.
var errCutOff = errors.New("the watcher was cut off")

// Watcher has the counters of one watcher.
type Watcher struct {
	number int
	once   sync.Once
	ready  *sync.WaitGroup
	// calls is the number of deliveries, each of which has one or more events.
	events, calls atomic.Int64
	// Padding: counters of different watchers must not share a cache line.
	_ [64]byte
}

// Ready marks the watcher as established: it will receive all later events.
func (w *Watcher) Ready() { w.once.Do(w.ready.Done) }

// Count records the delivery of events.
func (w *Watcher) Count(events int) {
	w.events.Add(int64(events))
	w.calls.Add(1)
}

// watchers are the watchers of a run.
type watchers struct {
	list   []*Watcher
	ready  sync.WaitGroup
	cutOff atomic.Int64
	end    func()
}

// startWatchers starts the watchers, and returns when all are established or the run has failed.
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

// watch restarts the watcher after errCutOff, as clients do.
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

// events returns the number of events of all watchers.
func (ws *watchers) events() (total int64) {
	for _, w := range ws.list {
		total += w.events.Load()
	}
	return total
}

// calls returns the number of deliveries of all watchers.
func (ws *watchers) calls() (total int64) {
	for _, w := range ws.list {
		total += w.calls.Load()
	}
	return total
}

// drain waits until watchers have received the expected total of events, for at most limit. It returns the time
// waited and the number of missing events.
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
