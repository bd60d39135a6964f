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
	// Warmup is the time under load before the measured Window. The window is extended if too few operations end in the
	// window.
	Warmup, Window time.Duration
	// CPU is the minimum CPU time of the server in the window. The window is extended until the server has used that much
	// CPU time, because the kernel reports hundredths of a second, which makes shorter CPU times imprecise.
	CPU time.Duration
	// Pause is the time that a client waits before each operation; it is not part of the latency.
	Pause time.Duration
	// Allocations makes Run also measure the heap allocations of the server, in a separate window, if the server reports
	// them.
	Allocations bool
}

// worker is one client of a running load.
type worker struct {
	*Client
	number, turn int
	latencies    []time.Duration // the latencies of the operations that ended in the window
	// since is the start of the latency of the current operation. An operation may set since to a later time.
	since time.Time
}

// operation is the operation that a load repeats, usually one request.
type operation func(ctx context.Context, w *worker) error

// errTooShort is the error of a load in whose window no operation ended.
var errTooShort = errors.New("no operation ended within the measured window; increase -time")

const (
	// minOperations is the number of operations per client that must end in the window. With fewer operations, the
	// operations that are cut off at the start and at the end of the window would distort the result.
	minOperations = 5
	// maxExtension is the maximum time by which the window is extended to reach minOperations and Load.CPU.
	maxExtension = time.Minute
)

// run is the state of a running load.
type run struct {
	windowStart time.Time
	ended       atomic.Int64 // the number of operations that ended after windowStart
	over        atomic.Bool  // set when the window has ended
}

// run runs the load on a server:
//
//  1. all clients start
//  2. usage is read at the start and at the end of the window
//  3. each client stops after the operation that is in progress at the end of the window
func (l Load) run(ctx context.Context, s *Server, do operation) (Result, error) {
	ctx, fail := context.WithCancelCause(ctx)
	defer fail(nil)
	r := &run{windowStart: time.Now().Add(l.Warmup)}
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
	window := time.Since(r.windowStart)
	running.Wait()
	if err := context.Cause(ctx); err != nil {
		return Result{}, err
	}
	return summarize(window, before, after, workers)
}

// measure reads the usage of the server at the start and at the end of the window, which it extends if necessary.
func (r *run) measure(ctx context.Context, s *Server, l Load) (before, after Usage, err error) {
	if err = sleepUntil(ctx, r.windowStart); err != nil {
		return before, after, err
	}
	if before, err = s.Usage(); err != nil {
		return before, after, err
	}
	const pause = 20 * time.Millisecond
	to := r.windowStart.Add(l.Window)
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

// part returns the load with its warm-up, window and CPU time divided by count, but with a minimum warm-up.
func (l Load) part(count int) Load {
	const minWarmup = 50 * time.Millisecond
	parts := time.Duration(count)
	l.Window, l.CPU, l.Warmup = l.Window/parts, l.CPU/parts, max(l.Warmup/parts, min(l.Warmup, minWarmup))
	return l
}

// work repeats the operation do until the window of r ends, and records the latencies.
func (w *worker) work(ctx context.Context, r *run, pause time.Duration, do operation) error {
	for ; !r.over.Load(); w.turn++ {
		if err := sleepUntil(ctx, time.Now().Add(pause)); err != nil {
			return err
		}
		w.since = time.Now()
		if err := do(ctx, w); err != nil {
			return err
		}
		if end := time.Now(); end.After(r.windowStart) && !r.over.Load() {
			w.latencies = append(w.latencies, end.Sub(w.since))
			r.ended.Add(1)
		}
	}
	return nil
}

// sleepUntil waits until deadline. If ctx is cancelled earlier, it returns the cause.
func sleepUntil(ctx context.Context, deadline time.Time) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(time.Until(deadline)):
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

// combine combines the results of several windows: counts and times are the sums, latencies are the maxima, and all
// other fields are those of the last window.
func combine(all []Result) (sum Result) {
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
