package lowerbound

import "fmt"

// Library is a JSON library that is a candidate for the lower bound.
type Library struct {
	Name string

	// open returns a new codec. Its cost is not measured.
	open func() codec
}

// codec parses and writes JSON with one library. It may reuse its buffers.
type codec interface {
	// parse parses the complete text.
	parse(text []byte) error
	// load parses a document, which write encodes later.
	load(text []byte) error
	// write encodes the document of the last call of load.
	write() ([]byte, error)
}

// Work returns a function that parses the inputs and writes the output once. If output is nil, the function only
// parses, as for an operation that fails.
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

// Libraries returns the JSON libraries that are measured. The time of the fastest one is the lower bound of the benchmarks.
func Libraries() []Library {
	return append([]Library{
		{"encoding/json", func() codec { return &tree{unmarshal: stdUnmarshal, marshal: stdMarshal} }},
		{"json-iterator/go", func() codec { return &tree{unmarshal: jsoniterUnmarshal, marshal: jsoniterMarshal} }},
		{"segmentio/encoding", func() codec { return &tree{unmarshal: segmentioUnmarshal, marshal: segmentioMarshal} }},
		{"goccy/go-json", func() codec { return &tree{unmarshal: goccyUnmarshal, marshal: goccyMarshal} }},
		{"bytedance/sonic", func() codec { return &tree{unmarshal: sonicUnmarshal, marshal: sonicMarshal} }},
		{"bytedance/sonic/ast", func() codec { return &sonicTree{} }},
		{"minio/simdjson-go", func() codec { return &simdjsonTree{} }},
		{"valyala/fastjson", func() codec { return &fastjsonTree{} }},
	}, experimental...)
}

// Fastest returns the library with the lowest mean time over the benchmark's cases, according to cmd/lowerbound.
func Fastest() Library {
	for _, library := range Libraries() {
		if library.Name == "valyala/fastjson" {
			return library
		}
	}
	panic("unreachable")
}

// experimental lists the candidates that are built only with a GOEXPERIMENT.
var experimental []Library
