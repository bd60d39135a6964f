package encoding

import (
	"bytes"
	"encoding/json"
	"fmt"
	"iter"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// JSON is the default encoding. Objects are stored as JSON, so responses contain the stored bytes.
var JSON = &Encoding{
	MediaType:         "application/json",
	StreamType:        "application/json;stream=watch",
	StreamContentType: "application/json",
	Tables:            true,
	Serializer:        jsonSerializer{},
}

// jsonSerializer writes compact JSON followed by a newline, or indented JSON without a newline if the view is pretty. Watch
// events are separated by newlines.
type jsonSerializer struct{}

func (jsonSerializer) Decode(body string, _ schema.GroupVersionKind) (string, error) {
	return body, nil
}

func (jsonSerializer) AppendObject(dst []byte, v View, o Object) ([]byte, error) {
	if v.Pretty {
		return appendIndented(dst, appendShaped(nil, &v, o))
	}
	return append(appendShaped(dst, &v, o), '\n'), nil
}

// AppendList implements Serializer. It writes lists of whole objects in chunks.
func (jsonSerializer) AppendList(dst []byte, v View, l List, objects iter.Seq[Object], sink Sink) ([]byte, error) {
	switch {
	case v.Pretty:
		return appendIndented(dst, appendShapedList(nil, &v, &l, objects))
	case v.Shape != Whole:
		return append(appendShapedList(dst, &v, &l, objects), '\n'), nil
	case sink == nil:
		dst = slices.Grow(dst, listSize(&l, objects))
	}
	dst, more := appendItems(dst, &v, &l, objects, sink)
	if !more {
		return dst, nil
	}
	return append(dst, '\n'), nil
}

func (jsonSerializer) AppendEvent(dst []byte, v View, eventType string, o Object) ([]byte, error) {
	dst = append(dst, `{"type":"`...)
	dst = append(dst, eventType...)
	dst = append(dst, `","object":`...)
	dst = appendShaped(dst, &v, o)
	return append(dst, "}\n"...), nil
}

func (jsonSerializer) AppendTyped(dst []byte, f Format, object runtime.Object) ([]byte, error) {
	text, err := json.Marshal(object)
	switch {
	case err != nil:
		return dst, fmt.Errorf("encode %T: %w", object, err)
	case f.Pretty:
		return appendIndented(dst, text)
	}
	return append(append(dst, text...), '\n'), nil
}

const (
	indent = "  "
	// maxIndentation is the maximum size of a response's indentation divided by the size of its compact text. Typical objects
	// have a ratio from 0.5 to 2. A field set of 3 MiB with thousands of levels would have gigabytes of indentation; such a
	// response is not indented.
	maxIndentation = 8
)

// appendIndented appends the indented form of compact JSON; if the indentation would be too large, it appends the compact
// text and a newline.
func appendIndented(dst, text []byte) ([]byte, error) {
	if indentationSize(text) > maxIndentation*len(text) {
		return append(append(dst, text...), '\n'), nil
	}
	out := bytes.NewBuffer(dst)
	if err := json.Indent(out, text, "", indent); err != nil {
		return dst, fmt.Errorf("indent JSON: %w", err)
	}
	return out.Bytes(), nil
}

// indentationSize returns the number of spaces in the indented form of compact JSON.
func indentationSize(text []byte) int {
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
