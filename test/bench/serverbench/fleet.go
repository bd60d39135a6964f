package serverbench

import (
	"context"
	"fmt"
	"time"

	"github.com/cadastre/cadastre/test/bench/proc"
)

// A Fleet is many objects, in as many namespaces as it takes.
type Fleet struct{ Objects int }

const (
	// fleetSpace is how many objects a namespace has.
	fleetSpace = 1000
	// fillers is how many clients fill a server: enough to have it commit many at once.
	fillers = 32
)

func fleetPlace(number int) place {
	return place{fmt.Sprintf("fleet-%d", number/fleetSpace), fmt.Sprintf("web-%d", number%fleetSpace)}
}

// Fill has a server that has the first some of the fleet make the rest, and returns the bytes of the JSON
// that it made.
func (f Fleet) Fill(ctx context.Context, s *Server, some int) (bytes int64, err error) {
	for space := some / fleetSpace; space*fleetSpace < f.Objects; space++ {
		if err := s.makeNamespace(ctx, fleetPlace(space*fleetSpace)); err != nil {
			return 0, err
		}
	}
	return s.applyEach(ctx, fillers, f.Objects-some, func(i int) place { return fleetPlace(some + i) })
}

// FillAs has a server make the fleet as clients do that update, known as a manager.
func (f Fleet) FillAs(ctx context.Context, s *Server, manager string) error {
	for first := 0; first < f.Objects; first += fleetSpace {
		if err := s.makeNamespace(ctx, fleetPlace(first)); err != nil {
			return err
		}
	}
	return s.each(ctx, fillers, f.Objects, func(ctx context.Context, c *Client, i int) error {
		p := fleetPlace(i)
		_, err := c.Do(ctx, write("POST", p.collection()+"?fieldManager="+manager, jsonType, p.body(0)))
		return err
	})
}

// An Opening is what it took to start a server, and what memory it then has.
type Opening struct {
	Server *Server
	// CPU is what the server had used when it was ready: other than the time, it does not depend on what else the
	// machine does.
	CPU time.Duration
	// Idle is when it has come to rest, after one request.
	Idle proc.Memory
	// StoreIdle is that of the store beside it.
	StoreIdle proc.Memory
}

// Open starts a server, asks it for something, and lets it come to rest.
func Open(ctx context.Context, side Side, folder string) (o Opening, err error) {
	if o.Server, err = side.Start(ctx, folder); err != nil {
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

// Work has clients change and read the fleet, which is what memory is about in the end.
func (f Fleet) Work(ctx context.Context, s *Server, l Load) (Result, error) {
	return l.run(ctx, s, func(ctx context.Context, w *worker) error {
		at := f.some(w)
		if w.turn%2 == 0 {
			_, err := w.Do(ctx, at.get())
			return err
		}
		_, err := w.Do(ctx, at.apply(w.server.version()))
		return err
	})
}

// Change measures applies that change objects of the fleet.
func (f Fleet) Change(ctx context.Context, s *Server, l Load) (Result, error) {
	return l.run(ctx, s, do(func(w *worker) Request {
		return f.some(w).apply(w.server.version())
	}))
}

// some is an object that a client has not worked on for long. The steps are primes, so that all have their
// turn.
func (f Fleet) some(w *worker) place { return fleetPlace((w.number*7919 + w.turn*104_729) % f.Objects) }
