package serverbench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// UnderLoadResult compares a watch of one kind without and with load on another kind. Both loads have a fixed rate, so
// that the same work is done in the same time.
type UnderLoadResult struct {
	// Idle and Loaded are the changes of the watched kind, without and with load on the other kind. Latencies are
	// measured from the response until the event, because the response itself waits for the disk that both loads share.
	Idle, Loaded Result
	Other        Result // changes of the other kind, without changes of the watched kind
	// OtherRate is the number of changes of the other kind per second while Loaded is measured.
	OtherRate float64
}

// LatencyRatio returns the p99 latency with load on the other kind divided by the p99 latency without that load.
func (r UnderLoadResult) LatencyRatio() float64 { return float64(r.Loaded.P99) / float64(r.Idle.P99) }

// LatencySeconds returns the p99 latency with load on the other kind, in seconds.
func (r UnderLoadResult) LatencySeconds() float64 { return r.Loaded.P99.Seconds() }

// CPURatio returns the CPU time of both loads together divided by the sum of the CPU times of the same changes of each
// kind alone.
func (r UnderLoadResult) CPURatio() float64 {
	apart := r.Loaded.Rate()*r.Idle.CPUPerOperation() + r.OtherRate*r.Other.CPUPerOperation()
	return r.CPUPerSecond() / apart
}

// CPUPerSecond returns the CPU time of the server per second with both loads, in nanoseconds.
func (r UnderLoadResult) CPUPerSecond() float64 {
	return float64(r.Loaded.CPU) / r.Loaded.Window.Seconds()
}

const (
	// watchedPace is the interval between changes of the watched kind.
	watchedPace = 10 * time.Millisecond
	// otherPace is the interval between changes of the other kind by one client.
	otherPace = 20 * time.Millisecond
	// otherWatchers is the number of watchers of the other kind.
	otherWatchers = 10
)

// WatchUnderLoad measures a watch of one kind of custom resources, without and with clients that change another kind.
func WatchUnderLoad(ctx context.Context, s *Server, l Load) (r UnderLoadResult, err error) {
	if err := s.define(ctx, shop, stall); err != nil {
		return r, err
	}
	if err := s.prepareUnderLoad(ctx, l.Clients); err != nil {
		return r, err
	}
	one, others := l, l
	one.Clients, one.Pause, others.Pause = 1, watchedPace, otherPace
	if r.Idle, err = one.changeShop(ctx, s); err != nil {
		return r, err
	}
	var changed atomic.Int64
	if r.Other, err = others.changeStalls(ctx, s, &changed); err != nil {
		return r, err
	}
	both, stop := context.WithCancel(ctx)
	failed := make(chan error, 1)
	go func() {
		others.Window = time.Hour // the load runs until stop is called
		_, err := others.changeStalls(both, s, &changed)
		if both.Err() != nil {
			err = nil
		}
		failed <- err
	}()
	start, before := time.Now(), changed.Load()
	r.Loaded, err = one.changeShop(ctx, s)
	r.OtherRate = float64(changed.Load()-before) / time.Since(start).Seconds()
	stop()
	return r, errors.Join(err, <-failed)
}

// changeShop changes an object of the watched kind, which one client watches.
func (l Load) changeShop(ctx context.Context, s *Server) (Result, error) {
	all := newWatchGroup(1)
	all.collection, all.objects = shop.collection(), 1
	change := do(func(w *worker) Request { return shop.apply("watched", w.server.unusedVersion()) })
	return all.runWatched(ctx, s, l, func(ctx context.Context, w *worker) error {
		err := change(ctx, w)
		w.since = time.Now()
		return err
	})
}

// changeStalls updates Stalls, objects of a second kind that otherWatchers clients watch, and counts the updates.
func (l Load) changeStalls(ctx context.Context, s *Server, changed *atomic.Int64) (Result, error) {
	all := newWatchGroup(otherWatchers)
	all.collection, all.objects = stall.collection(), l.Clients
	return all.runWatched(ctx, s, l, do(func(w *worker) Request {
		changed.Add(1)
		return stall.apply(fmt.Sprintf("other-%d", w.number), w.server.unusedVersion())
	}))
}

// prepareUnderLoad creates the objects that are changed, and deletes all other objects of both kinds, because a watch
// starts with an event for each object.
func (s *Server) prepareUnderLoad(ctx context.Context, clients int) error {
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
