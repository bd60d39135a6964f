package floor

import "fmt"

// A Library is a JSON library.
type Library struct {
	Name string

	// open prepares what is not measured.
	open func() codec
}

// A codec parses and writes, keeping what it can for the next time.
type codec interface {
	// parse parses the whole text, all values of it.
	parse(text []byte) error
	// hold parses a text that write writes.
	hold(text []byte) error
	// write writes the held value.
	write() ([]byte, error)
}

// Work returns a function that parses the inputs and writes the output once, and the size of what it
// writes. No output means an operation that fails: nothing is written.
func (l Library) Work(inputs [][]byte, output []byte) (func() error, error) {
	c := l.open()
	if output != nil {
		if err := c.hold(output); err != nil {
			return nil, fmt.Errorf("%s: %w", l.Name, err)
		}
	}
	return func() error {
		for _, input := range inputs {
			if err := c.parse(input); err != nil {
				return err
			}
		}
		if output == nil {
			return nil
		}
		_, err := c.write()
		return err
	}, nil
}

// Libraries lists the candidates.
func Libraries() []Library {
	return append([]Library{
		{"encoding/json", func() codec { return &tree{unmarshal: stdUnmarshal, marshal: stdMarshal} }},
		{"json-iterator/go", func() codec { return &tree{unmarshal: jsoniterUnmarshal, marshal: jsoniterMarshal} }},
		{"segmentio/encoding", func() codec { return &tree{unmarshal: segmentioUnmarshal, marshal: segmentioMarshal} }},
		{"goccy/go-json", func() codec { return &tree{unmarshal: goccyUnmarshal, marshal: goccyMarshal} }},
		{"bytedance/sonic", func() codec { return &tree{unmarshal: sonicUnmarshal, marshal: sonicMarshal} }},
		{"bytedance/sonic/ast", func() codec { return &sonicTree{} }},
		{"minio/simdjson-go", func() codec { return &simd{} }},
		{"valyala/fastjson", func() codec { return &fast{} }},
	}, experimental...)
}

// Fastest is the candidate with the lowest mean over the benchmark's cases.
func Fastest() Library {
	for _, library := range Libraries() {
		if library.Name == "valyala/fastjson" {
			return library
		}
	}
	panic("unreachable")
}

// experimental holds candidates that need a GOEXPERIMENT.
var experimental []Library
