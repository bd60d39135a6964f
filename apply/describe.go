package apply

import (
	"bytes"

	"github.com/cadastre/cadastre/document"
)

// describe shows a value in an error message: what it is, and how it starts.
func describe(v document.Value) string { return string(appendDescription(nil, v)) }

// appendDescription appends what describe returns.
func appendDescription(dst []byte, v document.Value) []byte {
	const most = 60
	switch v.Kind() {
	case document.Absent:
		return append(dst, "absent"...)
	case document.Null:
		return append(dst, "null"...)
	}
	dst = append(append(dst, v.Kind().String()...), ' ')
	var array [2 * most]byte
	text := appendStart(array[:0], v, most)
	if len(text) > most {
		dst = append(dst, bytes.ToValidUTF8(text[:most], nil)...)
		return append(dst, "…"...)
	}
	return append(dst, text...)
}

// appendStart appends the beginning of a value as JSON, a little more than most
// bytes of it, however large the value is.
func appendStart(dst []byte, v document.Value, most int) []byte {
	switch v.Kind() {
	case document.String:
		return document.AppendString(dst, v.Text()[:min(len(v.Text()), most+1)])
	case document.List:
		dst = append(dst, '[')
		for i := 0; i < v.Len() && len(dst) <= most; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendStart(dst, v.At(i), most)
		}
		return append(dst, ']')
	case document.Map:
		dst = append(dst, '{')
		for i := 0; i < v.Len() && len(dst) <= most; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = document.AppendString(dst, v.Name(i))
			dst = append(dst, ':')
			dst = appendStart(dst, v.At(i), most)
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}
