package lowerbound

import (
	"encoding/json"

	"github.com/bytedance/sonic"
	goccy "github.com/goccy/go-json"
	jsoniter "github.com/json-iterator/go"
	segmentio "github.com/segmentio/encoding/json"
)

// tree is a library that decodes JSON to maps and slices.
type tree struct {
	unmarshal func([]byte, any) error
	marshal   func(any) ([]byte, error)
	value     any
}

func (t *tree) parse(text []byte) error {
	var value any
	return t.unmarshal(text, &value)
}

func (t *tree) load(text []byte) error { return t.unmarshal(text, &t.value) }

func (t *tree) write() ([]byte, error) { return t.marshal(t.value) }

var (
	stdUnmarshal = json.Unmarshal
	stdMarshal   = json.Marshal

	jsoniterUnmarshal = jsoniter.ConfigFastest.Unmarshal
	jsoniterMarshal   = jsoniter.ConfigFastest.Marshal

	goccyUnmarshal = goccy.Unmarshal

	sonicUnmarshal = sonic.ConfigFastest.Unmarshal
	sonicMarshal   = sonic.ConfigFastest.Marshal
)

func segmentioUnmarshal(text []byte, value any) error {
	_, err := segmentio.Parse(text, value, segmentio.ZeroCopy)
	return err
}

func segmentioMarshal(value any) ([]byte, error) { return segmentio.Append(nil, value, 0) }

func goccyMarshal(value any) ([]byte, error) {
	return goccy.MarshalWithOption(value, goccy.UnorderedMap(), goccy.DisableHTMLEscape())
}
