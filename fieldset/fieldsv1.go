package fieldset

import (
	"fmt"
	"strconv"
	"sync"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/lib/fieldsv1"
)

// FieldsV1 is a tree of JSON objects. A name is a path element with a prefix for its kind (f: k: v: or i:), and its
// value is the object of the paths below the element. An element is a member of the set if its object is empty or
// contains the name ".". This file writes FieldsV1; reader.go reads it.

// AppendFieldsV1 appends the FieldsV1 of the set to dst, byte for byte as Kubernetes writes it.
func (s Set) AppendFieldsV1(dst []byte) []byte {
	dst = append(dst, '{')
	dst = appendLevel(dst, s)
	return append(dst, '}')
}

// FieldsV1 returns the set as FieldsV1, byte for byte as Kubernetes writes it; the empty set is {}.
func (s Set) FieldsV1() string {
	buffer := buffers.Get().(*[]byte)
	*buffer = s.AppendFieldsV1((*buffer)[:0])
	text := string(*buffer)
	if cap(*buffer) <= maxBuffer {
		buffers.Put(buffer)
	}
	return text
}

var buffers = sync.Pool{New: func() any { return new([]byte) }}

// maxBuffer is the maximum capacity, in bytes, of a buffer that is returned to the pool.
const maxBuffer = 1 << 20

func appendLevel(dst []byte, s Set) []byte {
	for i := range s.children {
		n := &s.children[i]
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(dst, '"')
		dst = n.element().appendSpelling(dst)
		dst = append(dst, `":{`...)
		if len(n.children) > 0 {
			if n.member {
				dst = append(dst, `".":{},`...)
			}
			dst = appendLevel(dst, n.below())
		}
		dst = append(dst, '}')
	}
	return dst
}

// appendSpelling appends the element as FieldsV1 spells it inside of the quotes, including its prefix.
func (e Element) appendSpelling(dst []byte) []byte {
	switch e.kind {
	case FieldName:
		return fieldsv1.AppendName(append(dst, "f:"...), e.text)
	case Key:
		dst = append(dst, "k:"...)
	case SetValue:
		dst = append(dst, "v:"...)
	case Index:
		dst = append(dst, "i:"...)
	}
	return append(dst, e.text...)
}

// ParseElement parses a path element in the notation of FieldsV1, with its prefix but without the escapes of the JSON
// string around it: f:spec, k:{"name":"app"}, v:"x", i:0. For an unknown prefix it returns the zero Element and no
// error, because Kubernetes ignores elements that a later version may define.
func ParseElement(s string) (Element, error) {
	if len(s) < 2 || s[1] != ':' {
		return Element{}, fmt.Errorf("expected a path element such as f:name, received %s", shorten(s))
	}
	body := s[2:]
	switch s[0] {
	case 'f':
		return NameElement(body), nil
	case 'i':
		i, err := strconv.Atoi(body)
		if err != nil {
			return Element{}, fmt.Errorf("expected an index after i:, received %s", shorten(body))
		}
		return IndexElement(i), nil
	case 'v':
		v, err := document.ParseJSON([]byte(body))
		if err != nil {
			return Element{}, fmt.Errorf("expected a JSON value after v:, received %s: %w", shorten(body), err)
		}
		return ValueElement(v), nil
	case 'k':
		v, err := document.ParseJSON([]byte(body))
		if err != nil {
			return Element{}, fmt.Errorf("expected a JSON object with keys after k:, received %s: %w", shorten(body), err)
		}
		if v.IsNull() {
			v = document.NewMap()
		}
		if v.Kind() != document.Map {
			return Element{}, fmt.Errorf("expected a JSON object with keys after k:, received %s", shorten(body))
		}
		return keyElement(v), nil
	}
	return Element{}, nil
}
