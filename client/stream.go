package client

import "io"

// stream is the body of a watch, read frame by frame.
type stream struct {
	body io.ReadCloser
	next func() ([]byte, error)
	rest []byte // the unread part of the current frame
}

func (s *stream) Read(p []byte) (int, error) {
	for len(s.rest) == 0 {
		frame, err := s.next()
		if err != nil {
			return 0, err
		}
		s.rest = frame
	}
	n := copy(p, s.rest)
	s.rest = s.rest[n:]
	return n, nil
}

// Close ends the watch.
func (s *stream) Close() error { return s.body.Close() }
