package lowerbound

import (
	"encoding/json"
	"errors"

	"github.com/bytedance/sonic"
	"github.com/bytedance/sonic/ast"
	"github.com/minio/simdjson-go"
	"github.com/valyala/fastjson"
)

// fastjsonTree uses fastjson, which parses to a tree in a buffer that the next parse reuses. Strings and numbers are
// decoded lazily.
type fastjsonTree struct {
	parser fastjson.Parser
	holder fastjson.Parser
	value  *fastjson.Value
	out    []byte
}

func (f *fastjsonTree) parse(text []byte) error {
	_, err := f.parser.ParseBytes(text)
	return err
}

func (f *fastjsonTree) load(text []byte) (err error) {
	f.value, err = f.holder.ParseBytes(text)
	return err
}

func (f *fastjsonTree) write() ([]byte, error) {
	f.out = f.value.MarshalTo(f.out[:0])
	return f.out, nil
}

// simdjsonTree uses simdjson-go, which parses to a tape in a buffer that the next parse reuses.
type simdjsonTree struct {
	tape  *simdjson.ParsedJson
	value *simdjson.ParsedJson
	out   []byte
}

func (s *simdjsonTree) parse(text []byte) (err error) {
	s.tape, err = simdjson.Parse(text, s.tape, simdjson.WithCopyStrings(false))
	return err
}

func (s *simdjsonTree) load(text []byte) (err error) {
	s.value, err = simdjson.Parse(text, nil)
	return err
}

func (s *simdjsonTree) write() (out []byte, err error) {
	iter := s.value.Iter()
	s.out, err = iter.MarshalJSONBuffer(s.out[:0])
	return s.out, err
}

// sonicTree uses sonic: its syntax tree for writing, and its visitor for parsing, because the tree is lazy and loading
// it would not parse most of the text.
type sonicTree struct{ value ast.Node }

func (s *sonicTree) parse(text []byte) error {
	return ast.Preorder(string(text), discardVisitor{}, nil)
}

func (s *sonicTree) load(text []byte) (err error) {
	s.value, err = sonic.Get(text)
	if err != nil {
		return err
	}
	return loadTree(&s.value)
}

func (s *sonicTree) write() ([]byte, error) { return s.value.MarshalJSON() }

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

// discardVisitor is a visitor that discards all values.
type discardVisitor struct{}

func (discardVisitor) OnNull() error                        { return nil }
func (discardVisitor) OnBool(bool) error                    { return nil }
func (discardVisitor) OnString(string) error                { return nil }
func (discardVisitor) OnInt64(int64, json.Number) error     { return nil }
func (discardVisitor) OnFloat64(float64, json.Number) error { return nil }
func (discardVisitor) OnObjectBegin(int) error              { return nil }
func (discardVisitor) OnObjectKey(string) error             { return nil }
func (discardVisitor) OnObjectEnd() error                   { return nil }
func (discardVisitor) OnArrayBegin(int) error               { return nil }
func (discardVisitor) OnArrayEnd() error                    { return nil }
