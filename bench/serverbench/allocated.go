package serverbench

import (
	"bytes"
	"context"
	"fmt"
	"strconv"
)

// allocatedMetric is how servers that are written in Go tell what they have taken from their heap since they began.
const allocatedMetric = "go_memstats_alloc_bytes_total "

// TellsAllocations reports whether the server can be asked: the floor can't.
func (s *Server) TellsAllocations() bool { return s.tells }

// allocated asks the server.
func (s *Server) allocated(ctx context.Context) (float64, error) {
	c := s.NewClient()
	defer c.Close()
	metrics, err := c.Do(ctx, Request{Method: "GET", Path: "/metrics", Accept: "text/plain"})
	if err != nil {
		return 0, err
	}
	for line := range bytes.Lines(metrics) {
		if value, ok := bytes.CutPrefix(line, []byte(allocatedMetric)); ok {
			return strconv.ParseFloat(string(bytes.TrimSpace(value)), 64)
		}
	}
	return 0, fmt.Errorf("%s/metrics: expected a line %q, received none in %d bytes", s.URL, allocatedMetric, len(metrics))
}
