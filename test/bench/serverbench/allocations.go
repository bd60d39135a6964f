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

// Allocations are measured in several intervals, and the median of these is used, because the store sometimes does
// large background work. The Go runtime counts allocations only per span, so each interval needs a minimum number of
// operations.
const (
	intervals  = 8
	minCounted = 10
)

// allocations returns the number of bytes that the server allocates per operation of one client, after some operations
// that are not counted. Only one client is used, because watchers receive the events of several clients in batches
// whose size depends on the speed of the watchers.
func (l Load) allocations(ctx context.Context, s *Server, do operation) (float64, error) {
	w := &worker{Client: s.NewClient()}
	defer w.Close()
	for range minCounted {
		if err := w.step(ctx, do); err != nil {
			return 0, err
		}
	}
	var taken []float64
	for range intervals {
		bytes, err := w.allocatedDuring(ctx, l.Window/intervals, do)
		if err != nil {
			return 0, err
		}
		taken = append(taken, bytes)
	}
	return stat.Of(taken).Median, nil
}

// allocatedDuring repeats the operation do for at least the given duration, and returns the number of bytes that the
// server allocated per operation.
func (w *worker) allocatedDuring(ctx context.Context, duration time.Duration, do operation) (float64, error) {
	before, reading, err := w.readTwice(ctx)
	if err != nil {
		return 0, err
	}
	from, counted := time.Now(), 0
	for ; counted < minCounted || time.Since(from) < duration; counted++ {
		if err := w.step(ctx, do); err != nil {
			return 0, err
		}
	}
	after, err := w.allocated(ctx)
	return (after - before - reading) / float64(counted), err
}

// step executes the operation do once.
func (w *worker) step(ctx context.Context, do operation) error {
	defer func() { w.turn++ }()
	return do(ctx, w)
}

// readTwice returns the value of allocatedMetric, and the number of bytes that the server allocates to serve one read
// of the metric.
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
	return 0, fmt.Errorf("%s/metrics: no line of %d bytes starts with %q", c.server.URL, len(metrics), allocatedMetric)
}
