package serverbench

import (
	"context"
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/proc"
)

// Fleet is a large number of Deployments, 1,000 per namespace.
type Fleet struct{ Objects int }

const (
	// objectsPerNamespace is the number of objects per namespace.
	objectsPerNamespace = 1000
	// fillers is the number of clients that fill a server: enough for group commits.
	fillers = 32
)

func fleetKey(number int) objectKey {
	return objectKey{fmt.Sprintf("fleet-%d", number/objectsPerNamespace), fmt.Sprintf("web-%d", number%objectsPerNamespace)}
}

// Fill applies the objects from index first to the end of the fleet, and returns the total size of the responses in
// bytes.
func (f Fleet) Fill(ctx context.Context, s *Server, first int) (bytes int64, err error) {
	for namespace := first / objectsPerNamespace; namespace*objectsPerNamespace < f.Objects; namespace++ {
		if err := s.makeNamespace(ctx, fleetKey(namespace*objectsPerNamespace)); err != nil {
			return 0, err
		}
	}
	return s.applyEach(ctx, fillers, f.Objects-first, func(i int) objectKey { return fleetKey(first + i) })
}

// FillAs creates all objects with create requests of the given field manager.
func (f Fleet) FillAs(ctx context.Context, s *Server, manager string) error {
	for first := 0; first < f.Objects; first += objectsPerNamespace {
		if err := s.makeNamespace(ctx, fleetKey(first)); err != nil {
			return err
		}
	}
	return s.each(ctx, fillers, f.Objects, func(ctx context.Context, c *Client, i int) error {
		key := fleetKey(i)
		_, err := c.Do(ctx, write("POST", key.collection()+"?fieldManager="+manager, jsonType, key.body(0)))
		return err
	})
}

// Opening is the cost of starting a server, and its memory while it is idle.
type Opening struct {
	Server *Server
	// CPU is the CPU time until the server was ready. Unlike the elapsed time it is independent of other load on the
	// machine.
	CPU time.Duration
	// Idle is the memory of the idle server after one request.
	Idle proc.Memory
	// StoreIdle is the memory of the server's etcd at the same time.
	StoreIdle proc.Memory
}

// Open starts a server, sends it one request and waits until it is idle.
func Open(ctx context.Context, implementation Implementation, folder string) (o Opening, err error) {
	if o.Server, err = implementation.Start(ctx, folder); err != nil {
		return Opening{}, err
	}
	if o.CPU, err = proc.CPU(o.Server.pid); err != nil {
		return o, err
	}
	c := o.Server.NewClient()
	defer c.Close()
	if _, err = c.Do(ctx, Request{Method: "GET", Path: "/api/v1/namespaces"}); err != nil {
		return o, err
	}
	if err = o.Server.Settle(ctx); err != nil {
		return o, err
	}
	usage, err := o.Server.Usage()
	o.Idle, o.StoreIdle = usage.Memory, usage.StoreMemory
	return o, err
}

// Work measures alternating gets and applies of objects of the fleet.
func (f Fleet) Work(ctx context.Context, s *Server, l Load) (Result, error) {
	return l.run(ctx, s, func(ctx context.Context, w *worker) error {
		at := f.next(w)
		if w.turn%2 == 0 {
			_, err := w.Do(ctx, at.get())
			return err
		}
		_, err := w.Do(ctx, at.apply(w.server.unusedVersion()))
		return err
	})
}

// Change measures applies that change objects of the fleet.
func (f Fleet) Change(ctx context.Context, s *Server, l Load) (Result, error) {
	return l.run(ctx, s, do(func(w *worker) Request {
		return f.next(w).apply(w.server.unusedVersion())
	}))
}

// next returns the key of an object that the client has not used recently. The numbers of consecutive objects differ by
// a prime, so that all objects are used.
func (f Fleet) next(w *worker) objectKey {
	return fleetKey((w.number*7919 + w.turn*104_729) % f.Objects)
}
