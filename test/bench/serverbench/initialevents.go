package serverbench

import (
	"context"
	"fmt"
)

// InitialEvents returns a case that starts a watch and ends the watch after the initial events of all objects of the
// namespace. It measures the cost of events to one watcher; if writes caused the events, the noise of the writes would
// exceed that cost.
func (m ManagedObjects) InitialEvents(format Format) Case {
	return Case{Name: "begin", do: func(ctx context.Context, w *worker) error {
		_, err := m.readInitialEvents(ctx, w.Client, format)
		return err
	}}
}

// EventSize returns the mean size of the initial events of a watch, in bytes.
func (m ManagedObjects) EventSize(ctx context.Context, s *Server, format Format) (float64, error) {
	c := s.NewClient()
	defer c.Close()
	bytes, err := m.readInitialEvents(ctx, c, format)
	return float64(bytes) / float64(m.Objects), err
}

// readInitialEvents starts a watch, and returns the total size of its initial events in bytes.
func (m ManagedObjects) readInitialEvents(ctx context.Context, c *Client, format Format) (bytes int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := c.send(ctx, Request{Method: "GET", Path: m.key(0).collection() + "?" + watchQuery, Accept: format.Accept()})
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	events := 0
	err = countEvents(format.Media, response.Body, func(more, size int) {
		bytes += size
		if events += more; events >= m.Objects {
			cancel() // no further events are expected
		}
	})
	if events < m.Objects {
		return 0, fmt.Errorf("initial events of the watch: expected %[2]d, received %[1]d: %[3]w", events, m.Objects, err)
	}
	return bytes, nil
}
