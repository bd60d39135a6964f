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

// watchQuery is the query of a watch without a resourceVersion. Its synthetic ADDED events show that the watch is
// established.
const watchQuery = "watch=1"

// WatchResult is the cost of watchers. Each client changes its object and waits until all watchers have received the
// event before the next change, so that no watcher falls behind. The same changes without watchers are the baseline.
type WatchResult struct {
	Watchers       int
	Watched, Alone Result // operations are changes; their latencies include the delivery of the events
	// Bytes is the mean size of an event.
	Bytes float64
}

// CPUPerEvent returns the CPU time of sending one event to one watcher, in nanoseconds: the difference between changes
// with and without watchers, divided by the number of watchers. It is NaN if the difference is not positive because of
// noise; NaN meets no goal.
func (r WatchResult) CPUPerEvent() float64 {
	more := r.Watched.CPUPerOperation() - r.Alone.CPUPerOperation()
	if more <= 0 {
		return math.NaN()
	}
	return more / float64(r.Watchers)
}

// AllocatedPerEvent returns the number of bytes that the server allocates for sending one event to all watchers.
func (r WatchResult) AllocatedPerEvent() float64 { return r.Watched.Allocated - r.Alone.Allocated }

// Watch measures watchers of a namespace with one object per client. The events are whole objects in JSON.
func Watch(ctx context.Context, s *Server, watchers int, l Load) (WatchResult, error) {
	var objects []objectKey
	for i := range l.Clients {
		objects = append(objects, objectKey{watchNamespace, fmt.Sprintf("web-%d", i)})
	}
	if err := s.applyAll(ctx, l.Clients, objects); err != nil {
		return WatchResult{}, err
	}
	change := do(func(w *worker) Request { return objects[w.number].apply(w.server.unusedVersion()) })
	all := newWatchGroup(watchers)
	all.collection, all.objects = objects[0].collection(), len(objects)
	return all.measure(ctx, s, l, change)
}

// Watch measures watchers of the namespace. The formats are assigned to the watchers in turn.
func (m ManagedObjects) Watch(ctx context.Context, s *Server, watchers int, l Load, formats ...Format) (WatchResult, error) {
	l.Clients = min(l.Clients, m.Objects)
	change := func(number int) Request { return m.change(number, s.unusedVersion()) }
	// The lower bound sends initial events only for objects that were written.
	err := s.each(ctx, l.Clients, m.Objects, func(ctx context.Context, c *Client, i int) error {
		_, err := c.Do(ctx, change(i))
		return err
	})
	if err != nil {
		return WatchResult{}, err
	}
	all := newWatchGroup(watchers)
	all.collection, all.objects, all.formats = m.key(0).collection(), m.Objects, formats
	return all.measure(ctx, s, l, do(func(w *worker) Request { return change(w.number) }))
}

// The cost of few watchers is small compared with that of the changes, which varies over time. Therefore windows with
// and without watchers alternate.
const (
	smallGroup = 100 // fewer watchers are measured in several phases
	phases     = 4
)

// phases returns the number of windows with watchers into which the load is split.
func (g *watchGroup) phases() int {
	if g.size < smallGroup {
		return phases
	}
	return 1
}

// measure measures changes with and without the watchers.
func (g *watchGroup) measure(ctx context.Context, s *Server, l Load, change operation) (WatchResult, error) {
	var watched, alone []Result
	phases := g.phases()
	for phase := range phases {
		// The speed of a server may drift. Therefore half of the baseline is measured before the window with watchers,
		// and half after it.
		part := l.part(phases)
		before, err := part.part(2).run(ctx, s, change)
		if err != nil {
			return WatchResult{}, err
		}
		part.Allocations = l.Allocations && phase == phases-1
		with, err := g.runWatched(ctx, s, part, change)
		if err != nil {
			return WatchResult{}, err
		}
		after, err := part.part(2).run(ctx, s, change)
		if err != nil {
			return WatchResult{}, err
		}
		watched, alone = append(watched, with), append(alone, before, after)
	}
	r := WatchResult{Watchers: int(g.size), Watched: combine(watched), Alone: combine(alone), Bytes: g.eventSize()}
	var err error
	if l.Allocations && s.reportsAllocations {
		r.Alone.Allocated, err = l.allocations(ctx, s, change)
	}
	return r, err
}

// runWatched runs l while the watchers run. After each change, the client waits until all watchers have received its
// event.
func (g *watchGroup) runWatched(ctx context.Context, s *Server, l Load, change operation) (Result, error) {
	stop, err := g.start(ctx, s)
	defer stop()
	if err != nil {
		return Result{}, err
	}
	waitingChange := func(ctx context.Context, w *worker) error {
		total := g.expect(1)
		if err := change(ctx, w); err != nil {
			return err
		}
		return g.wait(ctx, total)
	}
	r, err := l.run(ctx, s, waitingChange)
	if err == nil && l.Allocations && s.reportsAllocations {
		r.Allocated, err = l.allocations(ctx, s, waitingChange)
	}
	return r, err
}

// watchGroup is a group of watchers of one collection that share their counters.
type watchGroup struct {
	size       int64
	collection string
	objects    int
	formats    []Format // formats that are assigned to the watchers in turn; if empty, all receive whole objects in JSON
	fail       chan error
	connecting chan struct{} // semaphore that limits concurrent connection attempts, to avoid handshake timeouts

	lock     sync.Mutex
	events   int64 // number of events that the watchers have received together
	bytes    int64 // total size of these events
	expected int64
	waiting  map[chan struct{}]int64 // for each waiting goroutine, the value of events at which its channel is closed
}

func newWatchGroup(size int) *watchGroup {
	const atOnce = 64
	return &watchGroup{size: int64(size), fail: make(chan error, size), connecting: make(chan struct{}, atOnce), waiting: map[chan struct{}]int64{}}
}

// start starts all watchers, and returns when they have received their initial events. stop, which is never nil, stops
// the watchers.
func (g *watchGroup) start(ctx context.Context, s *Server) (stop func(), err error) {
	ctx, cancel := context.WithCancel(ctx)
	var running sync.WaitGroup
	stop = func() {
		cancel()
		running.Wait()
	}
	total := g.expect(g.objects)
	for watcher := range g.size {
		running.Go(func() {
			c := s.NewClient()
			defer c.Close()
			if err := g.watch(ctx, c, g.format(watcher)); ctx.Err() == nil {
				g.fail <- err
			}
		})
	}
	return stop, g.wait(ctx, total)
}

// expect announces that each watcher will receive the given number of further events. It returns the total number of
// events to pass to wait. It must be called before the change that causes the events.
func (g *watchGroup) expect(events int) (total int64) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.expected += g.size * int64(events)
	return g.expected
}

// eventTimeout is the maximum time until all watchers have received an event.
const eventTimeout = 30 * time.Second

// wait waits until the watchers have received the given total number of events. It returns an error after eventTimeout.
func (g *watchGroup) wait(ctx context.Context, total int64) error {
	reached := make(chan struct{})
	g.lock.Lock()
	if g.events >= total {
		g.lock.Unlock()
		return nil
	}
	g.waiting[reached] = total
	g.lock.Unlock()
	late := time.NewTimer(eventTimeout)
	defer late.Stop()
	select {
	case <-reached:
		return nil
	case err := <-g.fail:
		return err
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-late.C:
		return fmt.Errorf("%[1]d watchers received fewer than %[3]d events in total within %[2]v", g.size, eventTimeout, total)
	}
}

// format returns the format of the watcher with the given index.
func (g *watchGroup) format(watcher int64) Format {
	if len(g.formats) == 0 {
		return Format{Media: JSON}
	}
	return g.formats[watcher%int64(len(g.formats))]
}

// eventSize returns the mean size of the received events in bytes.
func (g *watchGroup) eventSize() float64 {
	g.lock.Lock()
	defer g.lock.Unlock()
	return float64(g.bytes) / float64(max(g.events, 1))
}

// count adds received events with their total size in bytes, and wakes the calls of wait whose total has been reached.
func (g *watchGroup) count(events, bytes int) {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.events += int64(events)
	g.bytes += int64(bytes)
	for reached, total := range g.waiting {
		if g.events >= total {
			close(reached)
			delete(g.waiting, reached)
		}
	}
}

// watch counts the events of one watcher until the context ends.
func (g *watchGroup) watch(ctx context.Context, c *Client, format Format) error {
	g.connecting <- struct{}{}
	response, err := c.send(ctx, Request{Method: "GET", Path: g.collection + "?" + watchQuery, Accept: format.Accept()})
	<-g.connecting
	if err != nil {
		return err
	}
	defer response.Body.Close()
	err = countEvents(format.Media, response.Body, g.count)
	if errors.Is(err, io.EOF) {
		return fmt.Errorf("the server closed the watch of %s", g.collection)
	}
	return err
}
