package bench

import (
	"github.com/cadastre/cadastre/test/bench/fixture"
	"github.com/cadastre/cadastre/test/bench/smd"
)

// Engine is a Server-Side Apply engine for objects of one kind, from bytes to bytes. The live object is empty for a
// create. The result is valid until the next call, because an engine may reuse its buffers.
type Engine interface {
	Apply(live, config Input, manager string, force bool) ([]byte, error)
	Update(live, updated Input, manager string) ([]byte, error)
}

// Input is a text as bytes and as string. Each engine uses the form that it need not copy.
type Input struct {
	Bytes []byte
	Text  string
}

// NewInput returns bytes as an Input.
func NewInput(bytes []byte) Input { return Input{bytes, string(bytes)} }

// peer adapts structured-merge-diff to Engine.
type peer struct{ engine *smd.Engine }

func newPeer(kind *fixture.Kind) Engine { return peer{smd.NewEngine(kind.SMD)} }

func (p peer) Apply(live, config Input, manager string, force bool) ([]byte, error) {
	return p.engine.Apply(live.Bytes, config.Bytes, manager, force)
}

func (p peer) Update(live, updated Input, manager string) ([]byte, error) {
	return p.engine.Update(live.Bytes, updated.Bytes, manager)
}
