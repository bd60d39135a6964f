package floor

import (
	"encoding/json"
	"errors"

	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/ast"
	"github.com/minio/simdjson-go"
	"github.com/valyala/fastjson"
)

// fast is fastjson: a tree of its own, in memory that the next parse takes over. Strings and numbers
// stay as they are spelled until somebody asks for them.
type fast struct {
	parser fastjson.Parser
	holder fastjson.Parser
	held   *fastjson.Value
	out    []byte
}

func (f *fast) parse(text []byte) error {
	_, err := f.parser.ParseBytes(text)
	return err
}

func (f *fast) hold(text []byte) (err error) {
	f.held, err = f.holder.ParseBytes(text)
	return err
}

func (f *fast) write() ([]byte, error) {
	f.out = f.held.MarshalTo(f.out[:0])
	return f.out, nil
}

// simd is simdjson-go: a tape, in memory that the next parse takes over.
type simd struct {
	tape *simdjson.ParsedJson
	held *simdjson.ParsedJson
	out  []byte
}

func (s *simd) parse(text []byte) (err error) {
	s.tape, err = simdjson.Parse(text, s.tape, simdjson.WithCopyStrings(false))
	return err
}

func (s *simd) hold(text []byte) (err error) {
	s.held, err = simdjson.Parse(text, nil)
	return err
}

func (s *simd) write() (out []byte, err error) {
	iter := s.held.Iter()
	s.out, err = iter.MarshalJSONBuffer(s.out[:0])
	return s.out, err
}

// sonicTree is sonic's syntax tree for writing, and its visitor for parsing: the tree itself is lazy,
// so loading it would leave most of the text unparsed.
type sonicTree struct{ held ast.Node }

func (s *sonicTree) parse(text []byte) error {
	return ast.Preorder(string(text), nobody{}, nil)
}

func (s *sonicTree) hold(text []byte) (err error) {
	s.held, err = sonic.Get(text)
	if err != nil {
		return err
	}
	return loadTree(&s.held)
}

func (s *sonicTree) write() ([]byte, error) { return s.held.MarshalJSON() }

// loadTree loads a lazy node and all nodes below it.
func loadTree(node *ast.Node) (err error) {
	if err := node.Load(); err != nil {
		return err
	}
	if kind := node.TypeSafe(); kind != ast.V_OBJECT && kind != ast.V_ARRAY {
		return nil
	}
	failed := node.ForEach(func(_ ast.Sequence, child *ast.Node) bool {
		err = loadTree(child)
		return err == nil
	})
	return errors.Join(err, failed)
}

// nobody visits every value and keeps none.
type nobody struct{}

func (nobody) OnNull() error                        { return nil }
func (nobody) OnBool(bool) error                    { return nil }
func (nobody) OnString(string) error                { return nil }
func (nobody) OnInt64(int64, json.Number) error     { return nil }
func (nobody) OnFloat64(float64, json.Number) error { return nil }
func (nobody) OnObjectBegin(int) error              { return nil }
func (nobody) OnObjectKey(string) error             { return nil }
func (nobody) OnObjectEnd() error                   { return nil }
func (nobody) OnArrayBegin(int) error               { return nil }
func (nobody) OnArrayEnd() error                    { return nil }
