package serverbench

import (
	"context"
	"fmt"
)

// Begin is a watch that hears of all objects of the namespace, as each does when it begins, and goes. So events of one
// watcher can be measured: beside a change, of which other events tell, they cost too little.
func (m Managed) Begin(wish Wish) Case {
	return Case{Name: "begin", do: func(ctx context.Context, w *worker) error {
		_, err := m.begin(ctx, w.Client, wish)
		return err
	}}
}

// EventSize is how long the events are that a watch begins with, on average.
func (m Managed) EventSize(ctx context.Context, s *Server, wish Wish) (float64, error) {
	c := s.NewClient()
	defer c.Close()
	bytes, err := m.begin(ctx, c, wish)
	return float64(bytes) / float64(m.Objects), err
}

// begin returns how long all events were.
func (m Managed) begin(ctx context.Context, c *Client, wish Wish) (bytes int, err error) {
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	response, err := c.send(ctx, Request{Method: "GET", Path: m.place(0).collection() + "?" + watchQuery, Accept: wish.Accept()})
	if err != nil {
		return 0, err
	}
	defer response.Body.Close()
	events := 0
	err = countEvents(wish.Media, response.Body, func(more, size int) {
		bytes += size
		if events += more; events >= m.Objects {
			cancel() // nothing else comes
		}
	})
	if events < m.Objects {
		return 0, fmt.Errorf("a watch began with %d events, expected %d: %w", events, m.Objects, err)
	}
	return bytes, nil
}
