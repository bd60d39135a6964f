package encoding

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/cadastre/cadastre/document"
)

// YAML is the YAML encoding. It does not support watches, because it has no framing for watch events.
var YAML = &Encoding{
	MediaType: "application/yaml",
	ApplyType: types.ApplyYAMLPatchType,
	YAML:      true,
	Tables:    true,
	Serializer: NewSerializer(Codec{
		Decode: func(body string) (string, error) { return body, nil }, // the body is returned unchanged, because the write path parses YAML
		Append: func(dst []byte, v document.Value) []byte { return v.AppendYAML(dst) },
	}),
}
