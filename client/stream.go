package client

import "io"

// stream is the body of a watch response from whose events managedFields are removed.
type stream struct {
	body io.ReadCloser          // the body that the server sent
	next func() ([]byte, error) // returns the next event, without managedFields
	rest []byte                 // the part of the current event that Read has not returned yet
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

// Close closes the body that the server sent, which ends the watch.
func (s *stream) Close() error { return s.body.Close() }
