package serverbench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

// A Case is something to do that is measured.
type Case struct {
	Name string
	// prepare makes what it needs, once on each server. It may be nil.
	prepare func(ctx context.Context, s *Server, clients int) error
	do      operation
}

// Prepare has a server make what the case needs.
func (c Case) Prepare(ctx context.Context, s *Server, clients int) error {
	if c.prepare == nil {
		return nil
	}
	return c.prepare(ctx, s, clients)
}

// Run measures the case.
func (c Case) Run(ctx context.Context, s *Server, l Load) (Result, error) {
	r, err := l.run(ctx, s, c.do)
	if err == nil && l.Allocations && s.tells {
		r.Allocated, err = l.allocations(ctx, s, c.do)
	}
	return r, err
}

const (
	// listed is how many objects the list has.
	listed = 2000
	// own is how many objects each client works on in turn, so that none of them is special.
	own = 32
)

// Namespaces: those of lists and watches have nothing else in them.
const (
	listSpace   = "bench-list"
	watchSpace  = "bench-watch"
	createSpace = "bench-create"
	workSpace   = "bench-work"
)

// Cases are all, those first that leave nothing behind.
var Cases = []Case{
	{"get", prepareList, do(func(w *worker) Request { return listedPlace((w.number*97 + w.turn*13) % listed).get() })},
	{fmt.Sprintf("list/%d", listed), prepareList, do(func(*worker) Request { return listedPlace(0).list() })},
	{"apply/noop", prepareOwn("noop"), do(func(w *worker) Request { return w.own("noop").apply(0) })},
	{"apply/change", prepareOwn("change"), do(func(w *worker) Request { return w.own("change").apply(w.server.version()) })},
	{"update", prepareOwn("update"), do(func(w *worker) Request { return w.own("update").update(w.server.version()) })},
	{"apply/create", prepareCreate, do(func(w *worker) Request { return place{createSpace, w.server.unused()}.apply(0) })},
	{"create", prepareCreate, do(func(w *worker) Request { return place{createSpace, w.server.unused()}.create(0) })},
}

// do is an operation that is one request.
func do(request func(w *worker) Request) operation {
	return func(ctx context.Context, w *worker) error {
		_, err := w.Do(ctx, request(w))
		return err
	}
}

// own is the object that a client works on now.
func (w *worker) own(what string) place { return ownPlace(what, w.number, w.turn%own) }

func ownPlace(what string, client, number int) place {
	return place{workSpace, fmt.Sprintf("%s-%d-%d", what, client, number)}
}

// version is one that nothing had yet, so that setting it is a change.
func (s *Server) version() int { return int(s.serial.Add(1)) }

func listedPlace(number int) place { return place{listSpace, fmt.Sprintf("web-%04d", number)} }

func prepareList(ctx context.Context, s *Server, clients int) error {
	var places []place
	for i := range listed {
		places = append(places, listedPlace(i))
	}
	return s.applyAll(ctx, clients, places)
}

func prepareOwn(what string) func(context.Context, *Server, int) error {
	return func(ctx context.Context, s *Server, clients int) error {
		var places []place
		for client := range clients {
			for number := range own {
				places = append(places, ownPlace(what, client, number))
			}
		}
		return s.applyAll(ctx, clients, places)
	}
}

func prepareCreate(ctx context.Context, s *Server, _ int) error {
	return s.makeNamespace(ctx, place{space: createSpace})
}

// applyAll applies an object at each place, all of one namespace.
func (s *Server) applyAll(ctx context.Context, clients int, places []place) error {
	if err := s.makeNamespace(ctx, places[0]); err != nil {
		return err
	}
	_, err := s.applyEach(ctx, clients, len(places), func(i int) place { return places[i] })
	return err
}

// applyEach applies many objects and returns how many bytes the answers had. Their namespaces are there.
func (s *Server) applyEach(ctx context.Context, clients, count int, at func(int) place) (bytes int64, err error) {
	var answered atomic.Int64
	err = s.each(ctx, clients, count, func(ctx context.Context, c *Client, i int) error {
		answer, err := c.Do(ctx, at(i).apply(0))
		answered.Add(int64(len(answer)))
		return err
	})
	return answered.Load(), err
}

// each does something so many times, by clients that share it out.
func (s *Server) each(ctx context.Context, clients, count int, do func(ctx context.Context, c *Client, i int) error) error {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	var running sync.WaitGroup
	for client := range clients {
		running.Go(func() {
			c := s.NewClient()
			defer c.Close()
			for i := client; i < count && ctx.Err() == nil; i += clients {
				if err := do(ctx, c, i); err != nil {
					fail(err)
				}
			}
		})
	}
	running.Wait()
	return context.Cause(ctx)
}

// makeNamespace makes the namespace of a place if there is none.
func (s *Server) makeNamespace(ctx context.Context, p place) error {
	c := s.NewClient()
	defer c.Close()
	_, err := c.Do(ctx, p.namespace())
	var status *StatusError
	if errors.As(err, &status) && status.Code == http.StatusConflict {
		return nil
	}
	return err
}
