package floor

import "fmt"

// Library is a JSON library.
type Library struct {
	Name string

	// open returns a new codec; its cost is not measured.
	open func() codec
}

// codec parses and writes with reused buffers.
type codec interface {
	// parse parses the complete text.
	parse(text []byte) error
	// load parses the document that write encodes.
	load(text []byte) error
	// write encodes the document of the last call of load.
	write() ([]byte, error)
}

// Work returns a function that parses the inputs and writes the output once. A nil output means that the operation
// fails: nothing is written.
func (l Library) Work(inputs [][]byte, output []byte) (func() error, error) {
	c := l.open()
	if output != nil {
		if err := c.load(output); err != nil {
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

// Libraries returns the candidates.
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

// Fastest returns the candidate with the lowest mean over the benchmark's cases.
func Fastest() Library {
	for _, library := range Libraries() {
		if library.Name == "valyala/fastjson" {
			return library
		}
	}
	panic("unreachable")
}

// experimental are candidates that need a GOEXPERIMENT.
var experimental []Library
