package serverbench

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
)

// allocatedMetric is the metric with the total number of bytes that a Go server has allocated on its heap. The space
// separates it from the value.
const allocatedMetric = "go_memstats_alloc_bytes_total "

// ReportsAllocations reports whether the server serves allocatedMetric; the lower bound does not.
func (s *Server) ReportsAllocations() bool { return s.reportsAllocations }

// Allocations are measured in several intervals, of which the median is used, because the store sometimes does large
// background work. The Go runtime counts allocations only per span, so that each interval needs a minimum number of
// operations.
const (
	stretches    = 8
	leastCounted = 10
)

// allocations returns the number of bytes that the server allocates per operation of one client, after some operations
// that are not counted. Only one client is used, because watchers receive the events of several clients in batches
// whose size depends on the speed of the watchers.
func (l Load) allocations(ctx context.Context, s *Server, do operation) (float64, error) {
	w := &worker{Client: s.NewClient()}
	defer w.Close()
	for range leastCounted {
		if err := w.step(ctx, do); err != nil {
			return 0, err
		}
	}
	var taken []float64
	for range stretches {
		bytes, err := w.allocatedDuring(ctx, l.Window/stretches, do)
		if err != nil {
			return 0, err
		}
		taken = append(taken, bytes)
	}
	return stat.Of(taken).Median, nil
}

// allocatedDuring repeats the operation for the given duration and returns the bytes that the server allocated per
// operation.
func (w *worker) allocatedDuring(ctx context.Context, long time.Duration, do operation) (float64, error) {
	before, reading, err := w.readTwice(ctx)
	if err != nil {
		return 0, err
	}
	from, counted := time.Now(), 0
	for ; counted < leastCounted || time.Since(from) < long; counted++ {
		if err := w.step(ctx, do); err != nil {
			return 0, err
		}
	}
	after, err := w.allocated(ctx)
	return (after - before - reading) / float64(counted), err
}

// step executes the operation once.
func (w *worker) step(ctx context.Context, do operation) error {
	defer func() { w.turn++ }()
	return do(ctx, w)
}

// readTwice returns the value of allocatedMetric, and the number of bytes that the server allocates for serving it.
func (w *worker) readTwice(ctx context.Context) (allocated, reading float64, err error) {
	first, err := w.allocated(ctx)
	if err != nil {
		return 0, 0, err
	}
	allocated, err = w.allocated(ctx)
	return allocated, allocated - first, err
}

// allocated returns the current value of allocatedMetric, in bytes.
func (c *Client) allocated(ctx context.Context) (float64, error) {
	metrics, err := c.Do(ctx, Request{Method: "GET", Path: "/metrics", Accept: "text/plain"})
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(metrics) {
		if value, ok := bytes.CutPrefix(line, []byte(allocatedMetric)); ok {
			return strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
		}
	}
	return 0, fmt.Errorf("%s/metrics: expected a line %q, received none in %d bytes", c.server.URL, allocatedMetric, len(metrics))
}
