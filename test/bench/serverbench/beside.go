package serverbench

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"
)

// BesideResult is what a watch on one kind is like without and with work on another kind. Both go at a pace of their
// own, so that the same work is done in the same time.
type BesideResult struct {
	// Operations are changes to the watched kind; latencies are from the answer until the event is there. (The answer
	// itself waits for the disk, which all share.)
	Alone, Beside Result
	Other         Result // operations are changes to the other kind, alone
	// OtherRate is how many changes to the other kind there were in a second beside the watch.
	OtherRate float64
}

// Slower is how much longer the slowest events take with work on another kind. Most are there before the answer.
func (r BesideResult) Slower() float64 { return float64(r.Beside.P99) / float64(r.Alone.P99) }

// Late is when all but a hundredth of the events are there with work on another kind, in seconds.
func (r BesideResult) Late() float64 { return r.Beside.P99.Seconds() }

// More is the CPU of both kinds at once, by that of as many changes to one and to the other.
func (r BesideResult) More() float64 {
	apart := r.Beside.Rate()*r.Alone.CPUPerOperation() + r.OtherRate*r.Other.CPUPerOperation()
	return r.CPUPerSecond() / apart
}

// CPUPerSecond is that of the server with both kinds at work, in nanoseconds.
func (r BesideResult) CPUPerSecond() float64 {
	return float64(r.Beside.CPU) / r.Beside.Window.Seconds()
}

const (
	// watchedPace is between changes to the watched kind, otherPace between those that each client makes to the other.
	watchedPace = 10 * time.Millisecond
	otherPace   = 20 * time.Millisecond
	// otherWatchers watch the other kind.
	otherWatchers = 10
)

// WatchBeside measures a watch on one kind of custom resources, with and without clients that change another.
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
		others.Window = time.Hour // until it is stopped
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
	all := newAudience(1)
	all.collection, all.objects = shop.collection(), 1
	change := do(func(w *worker) Request { return shop.apply("watched", w.server.version()) })
	return all.watched(ctx, s, l, func(ctx context.Context, w *worker) error {
		err := change(ctx, w)
		w.since = time.Now()
		return err
	})
}

// changeStalls changes objects of the other kind, which some watch, and counts.
func (l Load) changeStalls(ctx context.Context, s *Server, changed *atomic.Int64) (Result, error) {
	all := newAudience(otherWatchers)
	all.collection, all.objects = stall.collection(), l.Clients
	return all.watched(ctx, s, l, do(func(w *worker) Request {
		changed.Add(1)
		return stall.apply(fmt.Sprintf("other-%d", w.number), w.server.version())
	}))
}

// prepareBeside makes the objects that are changed, and no others: a watch begins with all that are there.
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
