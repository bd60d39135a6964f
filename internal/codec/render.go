package codec

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cadastre/cadastre/document"
)

// anySize is for what we have written ourselves.
var anySize = document.Limits{MaxBytes: -1}

// finish appends an answer: what the function writes, which is compact JSON, in the media of the
// format. Compact JSON ends with a line break, pretty JSON does not.
func (f Format) finish(dst []byte, write func(dst []byte) []byte) ([]byte, error) {
	switch {
	case f.Media == YAML:
		text := write(nil)
		v, err := document.ParseJSONLimited(text, anySize)
		if err != nil {
			return dst, fmt.Errorf("could not be written as YAML: %w", err)
		}
		return v.AppendYAML(dst), nil
	case f.Pretty:
		out := bytes.NewBuffer(dst)
		if err := json.Indent(out, write(nil), "", "  "); err != nil {
			return dst, fmt.Errorf("could not be written for people: %w", err)
		}
		return out.Bytes(), nil
	}
	return append(write(dst), '\n'), nil
}
