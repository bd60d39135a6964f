package storebench

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"
)

// errCutOff is the error of a watch whose watcher was too slow: it has missed events and must be restarted.
var errCutOff = errors.New("the watcher was too slow and missed events")

// Watcher counts the events that one watcher receives.
type Watcher struct {
	number int
	once   sync.Once
	ready  *sync.WaitGroup
	// events is the number of received events. calls is the number of deliveries, each of which contains one or more
	// events.
	events, calls atomic.Int64
	// The padding prevents counters of different watchers from sharing a cache line.
	_ [64]byte
}

// Ready marks the watch as established: the watcher will receive all later events.
func (w *Watcher) Ready() { w.once.Do(w.ready.Done) }

// Count records one delivery with the given number of events.
func (w *Watcher) Count(events int) {
	w.events.Add(int64(events))
	w.calls.Add(1)
}

// watchers are all watchers of a run.
type watchers struct {
	list   []*Watcher
	ready  sync.WaitGroup
	cutOff atomic.Int64
	end    func()
}

// startWatchers starts the watchers, and returns when all watches are established or the run has failed.
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

// watch runs one watcher, and restarts its watch after errCutOff, as clients do.
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

// events returns the number of events that all watchers have received together.
func (ws *watchers) events() (total int64) {
	for _, w := range ws.list {
		total += w.events.Load()
	}
	return total
}

// calls returns the number of deliveries to all watchers together.
func (ws *watchers) calls() (total int64) {
	for _, w := range ws.list {
		total += w.calls.Load()
	}
	return total
}

// drain waits until the watchers together have received the expected number of events, but at most for the duration
// limit. It returns the time that it waited and the number of missing events.
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
