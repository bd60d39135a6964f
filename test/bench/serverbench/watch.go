package serverbench

import (
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
	// Bytes is how long an event is that a watcher gets, on average.
	Bytes float64
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

// AllocatedPerEvent is how many bytes of its heap the server takes more for an event with watchers than without, for all
// watchers together.
func (r WatchResult) AllocatedPerEvent() float64 { return r.Watched.Allocated - r.Alone.Allocated }

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
	all := newAudience(watchers)
	all.collection, all.objects = objects[0].collection(), len(objects)
	return all.measure(ctx, s, l, change)
}

// Watch measures watchers of the namespace. Their wishes take turns.
func (m Managed) Watch(ctx context.Context, s *Server, watchers int, l Load, wishes ...Wish) (WatchResult, error) {
	l.Clients = min(l.Clients, m.Objects)
	change := func(number int) Request { return m.change(number, s.version()) }
	// The floor has only what was written to it.
	err := s.each(ctx, l.Clients, m.Objects, func(ctx context.Context, c *Client, i int) error {
		_, err := c.Do(ctx, change(i))
		return err
	})
	if err != nil {
		return WatchResult{}, err
	}
	all := newAudience(watchers)
	all.collection, all.objects, all.wishes = m.place(0).collection(), m.Objects, wishes
	return all.measure(ctx, s, l, do(func(w *worker) Request { return change(w.number) }))
}

// A small audience costs little beside the changes that it hears of, and what these cost changes by and by; so it comes and
// goes, that both are measured at nearly the same time.
const (
	smallAudience = 100 // costs more
	visits        = 4
)

// visits is how often the audience comes.
func (a *audience) visits() int {
	if a.size < smallAudience {
		return visits
	}
	return 1
}

// measure has clients change objects, with the audience and without.
func (a *audience) measure(ctx context.Context, s *Server, l Load, change operation) (WatchResult, error) {
	var watched, alone []Result
	visits := a.visits()
	for visit := range visits {
		// A server may get faster or slower meanwhile, so that half of the time without watchers comes before the
		// time with them, and half after it.
		part := l.part(visits)
		before, err := part.part(2).run(ctx, s, change)
		if err != nil {
			return WatchResult{}, err
		}
		part.Allocations = l.Allocations && visit == visits-1
		heard, err := a.watched(ctx, s, part, change)
		if err != nil {
			return WatchResult{}, err
		}
		after, err := part.part(2).run(ctx, s, change)
		if err != nil {
			return WatchResult{}, err
		}
		watched, alone = append(watched, heard), append(alone, before, after)
	}
	r := WatchResult{Watchers: int(a.size), Watched: together(watched), Alone: together(alone), Bytes: a.eventSize()}
	var err error
	if l.Allocations && s.tells {
		r.Alone.Allocated, err = l.allocations(ctx, s, change)
	}
	return r, err
}

// watched runs the load with watchers, none of which falls behind.
func (a *audience) watched(ctx context.Context, s *Server, l Load, change operation) (Result, error) {
	stop, err := a.start(ctx, s)
	defer stop()
	if err != nil {
		return Result{}, err
	}
	heard := func(ctx context.Context, w *worker) error {
		told := a.expect(1)
		if err := change(ctx, w); err != nil {
			return err
		}
		return a.wait(ctx, told)
	}
	r, err := l.run(ctx, s, heard)
	if err == nil && l.Allocations && s.tells {
		r.Allocated, err = l.allocations(ctx, s, heard)
	}
	return r, err
}

// An audience is watchers that count together, of a collection of so many objects.
type audience struct {
	size       int64
	collection string
	objects    int
	wishes     []Wish // take turns; whole objects in JSON if there are none
	fail       chan error
	doors      chan struct{} // as many come at once, that no server gives up waiting for what a busy machine sends

	lock     sync.Mutex
	events   int64 // that all watchers together got
	bytes    int64 // of these events
	expected int64
	waiting  map[chan struct{}]int64 // by how many events they wait for
}

func newAudience(size int) *audience {
	const atOnce = 64
	return &audience{size: int64(size), fail: make(chan error, size), doors: make(chan struct{}, atOnce), waiting: map[chan struct{}]int64{}}
}

// start returns when all watchers have what there is, with what ends them.
func (a *audience) start(ctx context.Context, s *Server) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	stop = func() {
		cancel()
		running.Wait()
	}
	there := a.expect(a.objects)
	for watcher := range a.size {
		running.Go(func() {
			c := s.NewClient()
			defer c.Close()
			if err := a.follow(ctx, c, a.wish(watcher)); ctx.Err() == nil {
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

// wish is how a watcher wants events.
func (a *audience) wish(watcher int64) Wish {
	if len(a.wishes) == 0 {
		return Wish{Media: JSON}
	}
	return a.wishes[watcher%int64(len(a.wishes))]
}

// eventSize is how long events are on average.
func (a *audience) eventSize() float64 {
	a.lock.Lock()
	defer a.lock.Unlock()
	return float64(a.bytes) / float64(max(a.events, 1))
}

// count wakes those that waited for no more.
func (a *audience) count(events, bytes int) {
	a.lock.Lock()
	defer a.lock.Unlock()
	a.events += int64(events)
	a.bytes += int64(bytes)
	for reached, total := range a.waiting {
		if a.events >= total {
			close(reached)
			delete(a.waiting, reached)
		}
	}
}

// follow counts events until the context ends.
func (a *audience) follow(ctx context.Context, c *Client, wish Wish) error {
	a.doors <- struct{}{}
	response, err := c.send(ctx, Request{Method: "GET", Path: a.collection + "?" + watchQuery, Accept: wish.Accept()})
	<-a.doors
	if err != nil {
		return err
	}
	defer response.Body.Close()
	err = countEvents(wish.Media, response.Body, a.count)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the server ended a watch of %s", a.collection)
	}
	return err
}
