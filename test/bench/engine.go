package bench

import (
	"github.com/cadastre/cadastre/test/bench/fixture"
	"github.com/cadastre/cadastre/test/bench/smd"
)

// An Engine is a Server-Side Apply engine for objects of one kind, from bytes to bytes. The live object
// is empty for a create. What is returned is valid until the next call: an engine that can uses its
// memory again.
type Engine interface {
	Apply(live, config Input, manager string, force bool) ([]byte, error)
	Update(live, updated Input, manager string) ([]byte, error)
}

// Input is a text in both of Go's types for it. Each engine takes the one that it keeps no copy of.
type Input struct {
	Bytes []byte
	Text  string
}

// NewInput returns bytes as an Input.
func NewInput(bytes []byte) Input { return Input{bytes, string(bytes)} }

// peer is structured-merge-diff as an Engine.
type peer struct{ engine *smd.Engine }

func newPeer(kind *fixture.Kind) Engine { return peer{smd.NewEngine(kind.SMD)} }

func (p peer) Apply(live, config Input, manager string, force bool) ([]byte, error) {
	return p.engine.Apply(live.Bytes, config.Bytes, manager, force)
}

func (p peer) Update(live, updated Input, manager string) ([]byte, error) {
	return p.engine.Update(live.Bytes, updated.Bytes, manager)
}
