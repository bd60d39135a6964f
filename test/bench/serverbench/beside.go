package serverbench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// BesideResult compares a watch of one kind without and with load on another kind. Both loads have a fixed rate, so
// that the same work is done in the same time.
type BesideResult struct {
	// Alone and Beside are changes of the watched kind; latencies are measured from the response until the event,
	// because the response itself waits for the shared disk.
	Alone, Beside Result
	Other         Result // changes of the other kind, alone
	// OtherRate is the number of changes of the other kind per second during Beside.
	OtherRate float64
}

// Slower returns the p99 latency with load on the other kind divided by that without. Most events arrive before the
// response.
func (r BesideResult) Slower() float64 { return float64(r.Beside.P99) / float64(r.Alone.P99) }

// Late returns the p99 latency with load on the other kind, in seconds.
func (r BesideResult) Late() float64 { return r.Beside.P99.Seconds() }

// More returns the CPU time of both loads together divided by that of the same changes of each kind alone.
func (r BesideResult) More() float64 {
	apart := r.Beside.Rate()*r.Alone.CPUPerOperation() + r.OtherRate*r.Other.CPUPerOperation()
	return r.CPUPerSecond() / apart
}

// CPUPerSecond returns the CPU time of the server per second with both loads, in nanoseconds.
func (r BesideResult) CPUPerSecond() float64 {
	return float64(r.Beside.CPU) / r.Beside.Window.Seconds()
}

const (
	// watchedPace is the interval of changes of the watched kind, otherPace that of each client's changes of the
	// other kind.
	watchedPace = 10 * time.Millisecond
	otherPace   = 20 * time.Millisecond
	// otherWatchers is the number of watchers of the other kind.
	otherWatchers = 10
)

// WatchBeside measures a watch of one kind of custom resources, with and without clients that change another kind.
func WatchBeside(ctx context.Context, s *Server, l Load) (r BesideResult, err error) {
	if err := s.define(ctx, shop, stall); err != nil {
		return r, err
	}
	if err := s.prepareBeside(ctx, l.Clients); err != nil {
		return r, err
	}
	one, others := l, l
	one.Clients, one.Pause, others.Pause = 1, watchedPace, otherPace
	if r.Alone, err = one.changeShop(ctx, s); err != nil {
		return r, err
	}
	var changed atomic.Int64
	if r.Other, err = others.changeStalls(ctx, s, &changed); err != nil {
		return r, err
	}
	both, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		others.Window = time.Hour // until stop is called
		_, err := others.changeStalls(both, s, &changed)
		if both.Err() != nil {
			err = nil
		}
		failed <- err
	}()
	start, before := time.Now(), changed.Load()
	r.Beside, err = one.changeShop(ctx, s)
	r.OtherRate = float64(changed.Load()-before) / time.Since(start).Seconds()
	stop()
	return r, errors.Join(err, <-failed)
}

// changeShop changes an object that one client watches.
func (l Load) changeShop(ctx context.Context, s *Server) (Result, error) {
	all := newWatchGroup(1)
	all.collection, all.objects = shop.collection(), 1
	change := do(func(w *worker) Request { return shop.apply("watched", w.server.unusedVersion()) })
	return all.watched(ctx, s, l, func(ctx context.Context, w *worker) error {
		err := change(ctx, w)
		w.since = time.Now()
		return err
	})
}

// changeStalls changes objects of the other kind, which some clients watch, and counts the changes.
func (l Load) changeStalls(ctx context.Context, s *Server, changed *atomic.Int64) (Result, error) {
	all := newWatchGroup(otherWatchers)
	all.collection, all.objects = stall.collection(), l.Clients
	return all.watched(ctx, s, l, do(func(w *worker) Request {
		changed.Add(1)
		return stall.apply(fmt.Sprintf("other-%d", w.number), w.server.unusedVersion())
	}))
}

// prepareBeside creates the objects that are changed, and deletes all others, because a watch starts with all objects.
func (s *Server) prepareBeside(ctx context.Context, clients int) error {
	c := s.NewClient()
	defer c.Close()
	if _, err := c.Do(ctx, Request{Method: "DELETE", Path: shop.collection()}); err != nil {
		return err
	}
	if _, err := c.Do(ctx, shop.apply("watched", 0)); err != nil {
		return err
	}
	for i := range clients {
		if _, err := c.Do(ctx, stall.apply(fmt.Sprintf("other-%d", i), 0)); err != nil {
			return err
		}
	}
	return nil
}
