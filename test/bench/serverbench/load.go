package serverbench

import (
	"context"
	"errors"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
)

// A Load is clients that do the same over and over, each on a connection of its own.
type Load struct {
	Clients int
	// Warmup passes, with all at work, before the window in which they are measured; it is longer if too little
	// ends in it.
	Warmup, Window time.Duration
	// CPU is how much the server is to use in the window at least, which gets longer until it has: it is told in hundredths
	// of a second, and less of it says nothing.
	CPU time.Duration
	// Pause is how long a client waits before each operation; this is no part of its latency.
	Pause time.Duration
	// Allocations has the server say how much memory it takes from its heap, if it can, in a window of its own.
	Allocations bool
}

// A worker is one client at work.
type worker struct {
	*Client
	number, turn int
	latencies    []time.Duration // of what ended in the window
	// since is where the latency of the operation under way begins. An operation may say that it is later.
	since time.Time
}

// An operation is what is measured: one request, most of the time.
type operation func(ctx context.Context, w *worker) error

// errTooShort is the error of a load that has nothing to say.
var errTooShort = errors.New("nothing ended in the time that is measured: make it longer")

// least is how many operations of each client are to end in the window, which gets longer until they have: with
// fewer, what is under way at its edges would count too much. It gets at most so much longer, also for the CPU.
const (
	least  = 5
	longer = time.Minute
)

// A run is a load at work.
type run struct {
	from  time.Time
	ended atomic.Int64 // operations since then
	over  atomic.Bool
}

// run puts the load on a server:
//
//  1. all clients begin
//  2. usage is read where the window begins and where it ends
//  3. each client stops after what it does when the window ends
func (l Load) run(ctx context.Context, s *Server, do operation) (Result, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r := &run{from: time.Now().Add(l.Warmup)}
	var running sync.WaitGroup
	workers := make([]*worker, l.Clients)
	for i := range workers {
		w := &worker{Client: s.NewClient(), number: i}
		workers[i] = w
		running.Go(func() {
			defer w.Close()
			if err := w.work(ctx, r, l.Pause, do); err != nil {
				fail(err)
			}
		})
	}
	before, after, err := r.measure(ctx, s, l)
	if err != nil {
		fail(err)
	}
	r.over.Store(true)
	window := time.Since(r.from)
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	return summarize(window, before, after, workers)
}

// measure reads the usage at both ends of the window.
func (r *run) measure(ctx context.Context, s *Server, l Load) (before, after Usage, err error) {
	if err = sleepUntil(ctx, r.from); err != nil {
		return before, after, err
	}
	if before, err = s.Usage(); err != nil {
		return before, after, err
	}
	const pause = 20 * time.Millisecond
	to := r.from.Add(l.Window)
	latest := to.Add(longer)
	for err = sleepUntil(ctx, to); err == nil; err = sleepUntil(ctx, time.Now().Add(pause)) {
		if after, err = s.Usage(); err != nil {
			break
		}
		if time.Now().After(latest) || r.ended.Load() >= least*int64(l.Clients) && after.CPU-before.CPU >= l.CPU {
			break
		}
	}
	return before, after, err
}

// part is the load for a part of its time. Some warmth it needs however short it is.
func (l Load) part(of int) Load {
	const shortest = 50 * time.Millisecond
	parts := time.Duration(of)
	l.Window, l.CPU, l.Warmup = l.Window/parts, l.CPU/parts, max(l.Warmup/parts, min(l.Warmup, shortest))
	return l
}

// work does it until the window is over.
func (w *worker) work(ctx context.Context, r *run, pause time.Duration, do operation) error {
	for ; !r.over.Load(); w.turn++ {
		if err := sleepUntil(ctx, time.Now().Add(pause)); err != nil {
			return err
		}
		w.since = time.Now()
		if err := do(ctx, w); err != nil {
			return err
		}
		if end := time.Now(); end.After(r.from) && !r.over.Load() {
			w.latencies = append(w.latencies, end.Sub(w.since))
			r.ended.Add(1)
		}
	}
	return nil
}

// sleepUntil fails with what ended the load before.
func sleepUntil(ctx context.Context, at time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Until(at)):
		return nil
	}
}

// A Result is what a load came to within the window.
type Result struct {
	Operations int
	Window     time.Duration
	P50, P99   time.Duration
	// CPU is that of the server, StoreCPU that of the store beside it.
	CPU, StoreCPU time.Duration
	// Allocated is how many bytes the server took from its heap an operation. It is no number if nobody asked, or the
	// server does not tell.
	Allocated float64
	After     Usage
}

func summarize(window time.Duration, before, after Usage, workers []*worker) (Result, error) {
	var latencies []time.Duration
	for _, w := range workers {
		latencies = append(latencies, w.latencies...)
	}
	if len(latencies) == 0 {
		return Result{}, errTooShort
	}
	slices.Sort(latencies)
	return Result{
		Operations: len(latencies),
		Window:     window,
		P50:        stat.Percentile(latencies, 50),
		P99:        stat.Percentile(latencies, 99),
		CPU:        after.CPU - before.CPU,
		StoreCPU:   after.StoreCPU - before.StoreCPU,
		Allocated:  math.NaN(),
		After:      after,
	}, nil
}

// Rate is operations per second.
func (r Result) Rate() float64 { return float64(r.Operations) / r.Window.Seconds() }

// CPUPerOperation is the server's, in nanoseconds.
func (r Result) CPUPerOperation() float64 { return float64(r.CPU) / float64(r.Operations) }

// StoreCPUPerOperation is that of the store beside the server, in nanoseconds.
func (r Result) StoreCPUPerOperation() float64 { return float64(r.StoreCPU) / float64(r.Operations) }

// together is what several windows came to. Latencies are the greatest ones, and what else is no sum is that of the last.
func together(all []Result) (sum Result) {
	for _, r := range all {
		sum = Result{
			Operations: sum.Operations + r.Operations,
			Window:     sum.Window + r.Window,
			P50:        max(sum.P50, r.P50),
			P99:        max(sum.P99, r.P99),
			CPU:        sum.CPU + r.CPU,
			StoreCPU:   sum.StoreCPU + r.StoreCPU,
			Allocated:  r.Allocated,
			After:      r.After,
		}
	}
	return sum
}
