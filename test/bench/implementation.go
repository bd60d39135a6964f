package bench

import (
	"fmt"
	"runtime"

	"github.com/cadastre/cadastre/test/bench/lowerbound"
)

// Work performs a case once. It returns an error if the case does not end as expected.
type Work func() error

// Comparison is a case that every implementation can perform: Cadastre, the upstream library, and the lower bound,
// which only parses and writes JSON.
type Comparison interface {
	Name() string
	// Size returns the size of the input in bytes.
	Size() int
	Cadastre() (Work, error)
	Upstream() (Work, error)
	LowerBound(lowerbound.Library) (Work, error)
}

// Cadastre returns the Work that performs the case with Cadastre's engine.
func (c Case) Cadastre() (Work, error) {
	engine, err := newCadastre(c.Object.Kind)
	if err != nil {
		return nil, err
	}
	return c.work(engine, c.request(true))
}

// Upstream returns the Work that performs the case with structured-merge-diff.
func (c Case) Upstream() (Work, error) {
	return c.work(newUpstream(c.Object.Kind), c.request(false))
}

// LowerBound returns the Work that parses the inputs of the case and encodes the result of structured-merge-diff, with a JSON
// library. A conflict has no result to encode.
func (c Case) LowerBound(library lowerbound.Library) (Work, error) {
	r := c.request(false)
	output, err := r.do(newUpstream(c.Object.Kind))
	if err := c.check(err); err != nil {
		return nil, err
	}
	inputs := [][]byte{r.sent.Bytes}
	if r.live.Bytes != nil {
		inputs = append(inputs, r.live.Bytes)
	}
	return library.Work(inputs, output)
}

// work returns the Work that performs r with engine. It first performs r once, and returns an error if c does not expect the
// result.
func (c Case) work(engine Engine, r request) (Work, error) {
	_, err := r.do(engine)
	if err := c.check(err); err != nil {
		return nil, err
	}
	if c.Operation == Conflict {
		return func() error {
			if _, err := r.do(engine); err != nil {
				runtime.KeepAlive(err.Error()) // a server would send the message in its response
			}
			return nil
		}, nil
	}
	return func() error {
		_, err := r.do(engine)
		return err
	}, nil
}

// check returns an error if the operation did not end as expected: a conflict must fail, and every other operation must
// succeed.
func (c Case) check(err error) error {
	switch {
	case c.Operation == Conflict && err == nil:
		return fmt.Errorf("%s: Apply succeeded, want a conflict", c.Name())
	case c.Operation != Conflict && err != nil:
		return fmt.Errorf("%s: %w", c.Name(), err)
	}
	return nil
}
