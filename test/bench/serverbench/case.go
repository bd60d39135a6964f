package serverbench

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"sync/atomic"
)

// Case is a named operation that is measured on every server.
type Case struct {
	Name string
	// prepare creates the objects of the case, once per server. It may be nil.
	prepare func(ctx context.Context, s *Server, clients int) error
	do      operation
}

// Prepare creates the objects of the case on a server. clients is the number of clients that the load will use.
func (c Case) Prepare(ctx context.Context, s *Server, clients int) error {
	if c.prepare == nil {
		return nil
	}
	return c.prepare(ctx, s, clients)
}

// Run measures the case: it repeats the operation with all clients of the load.
func (c Case) Run(ctx context.Context, s *Server, l Load) (Result, error) {
	r, err := l.run(ctx, s, c.do)
	if err == nil && l.Allocations && s.reportsAllocations {
		r.Allocated, err = l.allocations(ctx, s, c.do)
	}
	return r, err
}

const (
	// listed is the number of objects in a list response.
	listed = 2000
	// ownObjects is the number of objects that each client writes in turn, so that writes are spread over many keys.
	ownObjects = 32
)

// Namespaces of the cases. The namespaces for lists and watches contain no objects of other cases.
const (
	listNamespace   = "bench-list"
	watchNamespace  = "bench-watch"
	createNamespace = "bench-create"
	workNamespace   = "bench-work"
)

// Cases lists all cases. The cases that create no further objects are first.
var Cases = []Case{
	{"get", prepareList, do(func(w *worker) Request { return listedKey((w.number*97 + w.turn*13) % listed).get() })},
	{fmt.Sprintf("list/%d", listed), prepareList, do(func(*worker) Request { return listedKey(0).list() })},
	{"apply/noop", prepareOwn("noop"), do(func(w *worker) Request { return w.own("noop").apply(0) })},
	{"apply/change", prepareOwn("change"), do(func(w *worker) Request { return w.own("change").apply(w.server.unusedVersion()) })},
	{"update", prepareOwn("update"), do(func(w *worker) Request { return w.own("update").update(w.server.unusedVersion()) })},
	{"apply/create", prepareCreate, do(func(w *worker) Request { return objectKey{createNamespace, w.server.unusedName()}.apply(0) })},
	{"create", prepareCreate, do(func(w *worker) Request { return objectKey{createNamespace, w.server.unusedName()}.create(0) })},
}

// do returns an operation that sends the request which request returns.
func do(request func(w *worker) Request) operation {
	return func(ctx context.Context, w *worker) error {
		_, err := w.Do(ctx, request(w))
		return err
	}
}

// own returns the key of the object that the client writes next, among its own objects for the case with the name
// prefix what.
func (w *worker) own(what string) objectKey { return ownKey(what, w.number, w.turn%ownObjects) }

func ownKey(what string, client, number int) objectKey {
	return objectKey{workNamespace, fmt.Sprintf("%s-%d-%d", what, client, number)}
}

// unusedVersion returns an image version that no object has, so that setting it is a change.
func (s *Server) unusedVersion() int { return int(s.serial.Add(1)) }

func listedKey(number int) objectKey {
	return objectKey{listNamespace, fmt.Sprintf("web-%04d", number)}
}

func prepareList(ctx context.Context, s *Server, clients int) error {
	var keys []objectKey
	for i := range listed {
		keys = append(keys, listedKey(i))
	}
	return s.applyAll(ctx, clients, keys)
}

func prepareOwn(what string) func(context.Context, *Server, int) error {
	return func(ctx context.Context, s *Server, clients int) error {
		var keys []objectKey
		for client := range clients {
			for number := range ownObjects {
				keys = append(keys, ownKey(what, client, number))
			}
		}
		return s.applyAll(ctx, clients, keys)
	}
}

func prepareCreate(ctx context.Context, s *Server, _ int) error {
	return s.makeNamespace(ctx, objectKey{namespace: createNamespace})
}

// applyAll creates the namespace that all keys share, and applies an object for each key.
func (s *Server) applyAll(ctx context.Context, clients int, keys []objectKey) error {
	if err := s.makeNamespace(ctx, keys[0]); err != nil {
		return err
	}
	_, err := s.applyEach(ctx, clients, len(keys), func(i int) objectKey { return keys[i] })
	return err
}

// applyEach applies the objects with the keys at(0) to at(count-1), in existing namespaces. It returns the total size
// of the responses in bytes.
func (s *Server) applyEach(ctx context.Context, clients, count int, at func(int) objectKey) (bytes int64, err error) {
	var received atomic.Int64
	err = s.each(ctx, clients, count, func(ctx context.Context, c *Client, i int) error {
		body, err := c.Do(ctx, at(i).apply(0))
		received.Add(int64(len(body)))
		return err
	})
	return received.Load(), err
}

// each calls do for every i from 0 to count-1, distributed over concurrent clients. After the first error it stops, and
// returns that error.
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

// makeNamespace creates the namespace of key. It succeeds if the namespace exists already.
func (s *Server) makeNamespace(ctx context.Context, key objectKey) error {
	c := s.NewClient()
	defer c.Close()
	_, err := c.Do(ctx, key.createNamespace())
	var status *StatusError
	if errors.As(err, &status) && status.Code == http.StatusConflict {
		return nil
	}
	return err
}
