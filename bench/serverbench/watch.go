package serverbench

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"sync"
	"time"
)

// watchQuery starts with what there is, so that those events say that a watcher is there.
const watchQuery = "watch=1"

// A WatchResult is what watchers cost. Each writer changes an object of its own, waits until watchers have got as
// many events as there were changes, and goes on, so that none falls behind; and it does the same without
// watchers.
type WatchResult struct {
	Watchers       int
	Watched, Alone Result // operations are writes, latencies last until the events are there
}

// CPUPerEvent is what it costs to send an event to one watcher, in nanoseconds: what writes cost more with
// watchers than without. It is no number if that is lost in noise, which then meets no goal.
func (r WatchResult) CPUPerEvent() float64 {
	more := r.Watched.CPUPerOperation() - r.Alone.CPUPerOperation()
	if more <= 0 {
		return math.NaN()
	}
	return more / float64(r.Watchers)
}

// Watch measures watchers of a namespace in which each client has an object.
func Watch(ctx context.Context, s *Server, watchers int, l Load) (WatchResult, error) {
	var objects []place
	for i := range l.Clients {
		objects = append(objects, place{watchSpace, fmt.Sprintf("web-%d", i)})
	}
	if err := s.applyAll(ctx, l.Clients, objects); err != nil {
		return WatchResult{}, err
	}
	change := do(func(w *worker) Request { return objects[w.number].apply(w.server.version()) })
	// A server may get faster or slower meanwhile, so that half of the time without watchers comes before the
	// time with them, and half after it.
	half := l
	half.Window /= 2
	before, err := half.run(ctx, s, change)
	if err != nil {
		return WatchResult{}, err
	}
	watched, err := l.watched(ctx, s, newAudience(watchers), objects, change)
	if err != nil {
		return WatchResult{}, err
	}
	after, err := half.run(ctx, s, change)
	if err != nil {
		return WatchResult{}, err
	}
	return WatchResult{Watchers: watchers, Watched: watched, Alone: before.and(after)}, nil
}

// watched runs the load with watchers, none of which falls behind.
func (l Load) watched(ctx context.Context, s *Server, all *audience, objects []place, change operation) (Result, error) {
	stop, err := all.start(ctx, s, objects)
	defer stop()
	if err != nil {
		return Result{}, err
	}
	return l.run(ctx, s, func(ctx context.Context, w *worker) error {
		told := all.expect(1)
		if err := change(ctx, w); err != nil {
			return err
		}
		return all.wait(ctx, told)
	})
}

// An audience is watchers that count together.
type audience struct {
	size int64
	fail chan error

	lock     sync.Mutex
	events   int64 // that all watchers together got
	expected int64
	waiting  map[chan struct{}]int64 // by how many events they wait for
}

func newAudience(size int) *audience {
	return &audience{size: int64(size), fail: make(chan error, size), waiting: map[chan struct{}]int64{}}
}

// start returns when all watchers have what there is, with what ends them.
func (a *audience) start(ctx context.Context, s *Server, objects []place) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	stop = func() {
		cancel()
		running.Wait()
	}
	there := a.expect(len(objects))
	for range a.size {
		running.Go(func() {
			c := s.NewClient()
			defer c.Close()
			if err := a.follow(ctx, c, objects[0]); ctx.Err() == nil {
				a.fail <- err
			}
		})
	}
	return stop, a.wait(ctx, there)
}

// expect says that all watchers will get some more events, and returns how many all will have had then. It is
// called before what causes them.
func (a *audience) expect(events int) (total int64) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.expected += a.size * int64(events)
	return a.expected
}

// eventTimeout is how long an event may take to all watchers.
const eventTimeout = 30 * time.Second

// wait returns when watchers have had so many events.
func (a *audience) wait(ctx context.Context, total int64) error {
	reached := make(chan struct{})
	a.lock.Lock()
	if a.events >= total {
		a.lock.Unlock()
		return nil
	}
	a.waiting[reached] = total
	a.lock.Unlock()
	late := time.NewTimer(eventTimeout)
	defer late.Stop()
	select {
	case <-reached:
		return nil
	case err := <-a.fail:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late.C:
		return fmt.Errorf("not all of %d watchers got an event in %v, expected %d events in all", a.size, eventTimeout, total)
	}
}

// count wakes those that waited for no more.
func (a *audience) count(events int) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.events += int64(events)
	for reached, total := range a.waiting {
		if a.events >= total {
			close(reached)
			delete(a.waiting, reached)
		}
	}
}

// follow counts events, which end with a newline each, until the context ends.
func (a *audience) follow(ctx context.Context, c *Client, object place) error {
	response, err := c.send(ctx, Request{Method: "GET", Path: object.collection() + "?" + watchQuery})
	if err != nil {
		return err
	}
	defer response.Body.Close()
	buffer := make([]byte, 16<<10)
	for {
		n, err := response.Body.Read(buffer)
		a.count(bytes.Count(buffer[:n], []byte{'\n'}))
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("the server ended a watch of %s", object.space)
		}
		if err != nil {
			return err
		}
	}
}
