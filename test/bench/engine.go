package bench

import (
	"github.com/cadastre/cadastre/test/bench/fixture"
	"github.com/cadastre/cadastre/test/bench/smd"
)

// Engine is a Server-Side Apply engine for objects of one kind, which takes and returns encoded objects. live is empty
// for a create. The result is valid until the next call, because an engine may reuse its buffers.
type Engine interface {
	Apply(live, config Input, manager string, force bool) ([]byte, error)
	Update(live, updated Input, manager string) ([]byte, error)
}

// Input is a text as bytes and as string, so that each engine can use the type that it does not have to copy.
type Input struct {
	Bytes []byte
	Text  string
}

// NewInput returns an Input with the given text.
func NewInput(bytes []byte) Input { return Input{bytes, string(bytes)} }

// upstream adapts structured-merge-diff to Engine.
type upstream struct{ engine *smd.Engine }

func newUpstream(kind *fixture.Kind) Engine { return upstream{smd.NewEngine(kind.SMD)} }

func (u upstream) Apply(live, config Input, manager string, force bool) ([]byte, error) {
	return u.engine.Apply(live.Bytes, config.Bytes, manager, force)
}

func (u upstream) Update(live, updated Input, manager string) ([]byte, error) {
	return u.engine.Update(live.Bytes, updated.Bytes, manager)
}
