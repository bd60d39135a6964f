package codec

import (
	"bytes"
	"encoding/json"
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// anySize is for what we have written ourselves.
var anySize = document.Limits{MaxBytes: -1}

// finish appends an answer: what the function writes, which is compact JSON, in the media of the
// format. Compact JSON ends with a line break, pretty JSON does not.
func (f Format) finish(dst []byte, write func(dst []byte) []byte) ([]byte, error) {
	switch {
	case f.Media != JSON:
		text := write(nil)
		v, err := document.ParseJSONLimited(text, anySize)
		if err != nil {
			return dst, fmt.Errorf("could not be written as %s: %w", f.Media, err)
		}
		return f.appendDocument(dst, v)
	case f.Pretty:
		text := write(nil)
		if indentation(text) > mostIndentation*len(text) {
			return append(append(dst, text...), '\n'), nil
		}
		out := bytes.NewBuffer(dst)
		if err := json.Indent(out, text, "", indent); err != nil {
			return dst, fmt.Errorf("could not be written for people: %w", err)
		}
		return out.Bytes(), nil
	}
	return append(write(dst), '\n'), nil
}

// appendDocument appends an answer that is a document, in a media other than JSON.
func (f Format) appendDocument(dst []byte, v document.Value) ([]byte, error) {
	switch f.Media {
	case Protobuf:
		o, err := packed.Protobuf(v)
		if err != nil {
			return dst, noProtobuf(err)
		}
		return o.AppendAnswer(dst, false), nil
	case CBOR:
		return packed.AppendCBOR(append(dst, packed.CBORPrefix...), nil, v), nil
	}
	return v.AppendYAML(dst), nil
}

const (
	indent = "  "
	// mostIndentation is how many times as large as its text the indentation of an answer may be. Objects
	// that people write have half of their text, or twice. Field sets of 3 MiB that are a few thousand levels
	// deep would have gigabytes: nobody reads them, and they must not take the memory of all.
	mostIndentation = 8
)

// indentation is how many bytes of spaces a text would have, if it was written for people.
func indentation(text []byte) int {
	total, depth := 0, 0
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '"':
			for i++; i < len(text) && text[i] != '"'; i++ {
				if text[i] == '\\' {
					i++
				}
			}
		case '{', '[':
			depth++
			total += depth
		case '}', ']':
			depth--
			total += depth
		case ',':
			total += depth
		}
	}
	return total * len(indent)
}
