package bench

import (
	"fmt"
	"runtime"

	"github.com/cadastre/cadastre/test/bench/floor"
)

// Work performs a case once.
type Work func() error

// Comparison is a case that all sides can perform.
type Comparison interface {
	Name() string
	// Size returns the size of the input in bytes.
	Size() int
	Ours() (Work, error)
	Peer() (Work, error)
	Floor(floor.Library) (Work, error)
}

// Ours returns the case on our engine.
func (c Case) Ours() (Work, error) {
	engine, err := newCadastre(c.Object.Kind)
	if err != nil {
		return nil, err
	}
	return c.work(engine, c.request(true))
}

// Peer returns the case on structured-merge-diff.
func (c Case) Peer() (Work, error) {
	return c.work(newPeer(c.Object.Kind), c.request(false))
}

// Floor returns work that parses the inputs of the case and encodes the peer's output with a JSON library. A conflict
// has no output.
func (c Case) Floor(library floor.Library) (Work, error) {
	r := c.request(false)
	output, err := r.do(newPeer(c.Object.Kind))
	if err := c.check(err); err != nil {
		return nil, err
	}
	inputs := [][]byte{r.sent.Bytes}
	if r.live.Bytes != nil {
		inputs = append(inputs, r.live.Bytes)
	}
	return library.Work(inputs, output)
}

// work performs and checks the request once before it is measured.
func (c Case) work(engine Engine, r request) (Work, error) {
	_, err := r.do(engine)
	if err := c.check(err); err != nil {
		return nil, err
	}
	if c.Operation == Conflict {
		return func() error {
			if _, err := r.do(engine); err != nil {
				runtime.KeepAlive(err.Error()) // the message of the response
			}
			return nil
		}, nil
	}
	return func() error {
		_, err := r.do(engine)
		return err
	}, nil
}

// check returns an error unless an operation ended as expected: a conflict with an error, others without.
func (c Case) check(err error) error {
	switch {
	case c.Operation == Conflict && err == nil:
		return fmt.Errorf("%s: expected a conflict, received none", c.Name())
	case c.Operation != Conflict && err != nil:
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	return nil
}
