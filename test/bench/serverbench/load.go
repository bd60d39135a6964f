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

// Load is a number of concurrent clients that repeat an operation, each on a separate connection.
type Load struct {
	Clients int
	// Warmup is the time under load before the measured Window. The window is extended if too few operations end in it.
	Warmup, Window time.Duration
	// CPU is the minimum CPU time of the server in the window, which is extended until the server has used it: the
	// kernel reports hundredths of a second, so that a shorter CPU time would be imprecise.
	CPU time.Duration
	// Pause is the time that a client waits before each operation; it is not part of the latency.
	Pause time.Duration
	// Allocations makes Run measure the heap allocations of a server that reports them too, in a separate window.
	Allocations bool
}

// worker is one client of a running load.
type worker struct {
	*Client
	number, turn int
	latencies    []time.Duration // the latencies of the operations that ended in the window
	// since is the time from which the latency of the current operation is measured. An operation may set it to a later
	// time.
	since time.Time
}

// operation is the operation that a load repeats, usually one request.
type operation func(ctx context.Context, w *worker) error

// errTooShort is the error of a load in whose window no operation ended.
var errTooShort = errors.New("no operation ended within the measured window; increase -time")

// minOperations is the number of operations per client that must end in the window, because with fewer the operations
// at its edges distort the result. maxExtension is the maximum extension of the window, for operations and for CPU
// time.
const (
	minOperations = 5
	maxExtension  = time.Minute
)

// run is the state of a running load.
type run struct {
	from  time.Time
	ended atomic.Int64 // the number of operations that ended after the time from
	over  atomic.Bool
}

// run runs the load on a server:
//
//  1. all clients start
//  2. usage is read at the start and at the end of the window
//  3. each client stops after the operation that is in progress at the end of the window
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

// measure reads the usage of the server at the start and at the end of the window, which it extends if necessary.
func (r *run) measure(ctx context.Context, s *Server, l Load) (before, after Usage, err error) {
	if err = sleepUntil(ctx, r.from); err != nil {
		return before, after, err
	}
	if before, err = s.Usage(); err != nil {
		return before, after, err
	}
	const pause = 20 * time.Millisecond
	to := r.from.Add(l.Window)
	latest := to.Add(maxExtension)
	for err = sleepUntil(ctx, to); err == nil; err = sleepUntil(ctx, time.Now().Add(pause)) {
		if after, err = s.Usage(); err != nil {
			break
		}
		if time.Now().After(latest) || r.ended.Load() >= minOperations*int64(l.Clients) && after.CPU-before.CPU >= l.CPU {
			break
		}
	}
	return before, after, err
}

// part returns the load with its warm-up and window divided by of, but with a minimum warm-up.
func (l Load) part(of int) Load {
	const minWarmup = 50 * time.Millisecond
	parts := time.Duration(of)
	l.Window, l.CPU, l.Warmup = l.Window/parts, l.CPU/parts, max(l.Warmup/parts, min(l.Warmup, minWarmup))
	return l
}

// work repeats the operation until the window ends, and records the latencies.
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

// sleepUntil waits until the time at. If the context is cancelled earlier, it returns the cause.
func sleepUntil(ctx context.Context, at time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Until(at)):
		return nil
	}
}

// Result contains the measurements of a load within its window.
type Result struct {
	Operations int
	Window     time.Duration
	P50, P99   time.Duration
	// CPU is the CPU time of the server; StoreCPU is the CPU time of its etcd.
	CPU, StoreCPU time.Duration
	// Allocated is the number of bytes that the server allocated per operation; NaN if it was not measured.
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

// Rate returns the number of operations per second.
func (r Result) Rate() float64 { return float64(r.Operations) / r.Window.Seconds() }

// CPUPerOperation returns the CPU time of the server per operation, in nanoseconds.
func (r Result) CPUPerOperation() float64 { return float64(r.CPU) / float64(r.Operations) }

// StoreCPUPerOperation returns the CPU time of the server's etcd per operation, in nanoseconds.
func (r Result) StoreCPUPerOperation() float64 { return float64(r.StoreCPU) / float64(r.Operations) }

// together combines the results of several windows: counts and times are summed, latencies are the maxima, and other
// fields are those of the last window.
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
