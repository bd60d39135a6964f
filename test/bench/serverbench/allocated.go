package serverbench

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
	"time"

	"github.com/cadastre/cadastre/test/bench/stat"
)

// allocatedMetric is how servers that are written in Go tell what they have taken from their heap since they began.
const allocatedMetric = "go_memstats_alloc_bytes_total "

// TellsAllocations reports whether the server can be asked: the floor can't.
func (s *Server) TellsAllocations() bool { return s.tells }

// What a server takes is counted over a few stretches of time, of which the median is taken: now and then its store does
// something large by itself. The runtime counts memory only when a block of it is full, so that few operations say little.
const (
	stretches    = 8
	leastCounted = 10
)

// allocations is how many bytes the server takes from its heap for an operation that one client does over and over, after
// a few that are not counted. One client, because watchers get the events of several at once, the more the slower
// they are, and what an event takes would depend on that.
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
		bytes, err := w.stretch(ctx, l.Window/stretches, do)
		if err != nil {
			return 0, err
		}
		taken = append(taken, bytes)
	}
	return stat.Of(taken).Median, nil
}

// stretch is what the server takes for an operation in some time.
func (w *worker) stretch(ctx context.Context, long time.Duration, do operation) (float64, error) {
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

// step does it once.
func (w *worker) step(ctx context.Context, do operation) error {
	defer func() { w.turn++ }()
	return do(ctx, w)
}

// readTwice also says what it takes to be asked.
func (w *worker) readTwice(ctx context.Context) (allocated, reading float64, err error) {
	first, err := w.allocated(ctx)
	if err != nil {
		return 0, 0, err
	}
	allocated, err = w.allocated(ctx)
	return allocated, allocated - first, err
}

// allocated asks the server.
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
