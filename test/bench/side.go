package bench

import (
	"fmt"
	"runtime"

	"github.com/cadastre/cadastre/test/bench/floor"
)

// Work does a case once.
type Work func() error

// A Comparison is a case of any sort: work that all sides do.
type Comparison interface {
	Name() string
	// Size is how large the work is, in bytes.
	Size() int
	Ours() (Work, error)
	Peer() (Work, error)
	Floor(floor.Library) (Work, error)
}

// Ours is the case as our engine does it.
func (c Case) Ours() (Work, error) {
	engine, err := newCadastre(c.Object.Kind)
	if err != nil {
		return nil, err
	}
	return c.work(engine, c.request(true))
}

// Peer is the case as structured-merge-diff does it.
func (c Case) Peer() (Work, error) {
	return c.work(newPeer(c.Object.Kind), c.request(false))
}

// Floor parses what the case reads and writes what it yields, with a JSON library. What it yields is the
// peer's output; a conflict yields none.
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

// work does the request once and checks it, so that nobody is measured doing the wrong thing.
func (c Case) work(engine Engine, r request) (Work, error) {
	_, err := r.do(engine)
	if err := c.check(err); err != nil {
		return nil, err
	}
	if c.Operation == Conflict {
		return func() error {
			if _, err := r.do(engine); err != nil {
				runtime.KeepAlive(err.Error()) // the answer to the client
			}
			return nil
		}, nil
	}
	return func() error {
		_, err := r.do(engine)
		return err
	}, nil
}

// check says whether an operation ended as it should: a conflict in an error, any other without.
func (c Case) check(err error) error {
	switch {
	case c.Operation == Conflict && err == nil:
		return fmt.Errorf("%s: no conflict", c.Name())
	case c.Operation != Conflict && err != nil:
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	return nil
}
