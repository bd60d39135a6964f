package apply

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// FieldError is a validation error for one field.
type FieldError struct {
	Path fieldset.Path
	// Problem describes the expected value, the received value, and the remedy.
	Problem string
}

func (e FieldError) Error() string {
	if len(e.Path) == 0 {
		return e.Problem
	}
	return e.Path.String() + ": " + e.Problem
}

// InvalidError is returned for a configuration that does not conform to the schema.
type InvalidError struct{ Fields []FieldError }

func (e *InvalidError) Error() string {
	if len(e.Fields) == 1 {
		return "invalid configuration: " + e.Fields[0].Error()
	}
	lines := make([]string, len(e.Fields))
	for i, f := range e.Fields {
		lines[i] = "\n- " + f.Error()
	}
	return fmt.Sprintf("invalid configuration: %d problems:%s", len(e.Fields), strings.Join(lines, ""))
}

// EntryError is returned if metadata.managedFields of an object can't be decoded.
type EntryError struct {
	// Index is the index of the invalid entry, -1 if managedFields is not a list.
	Index   int
	Problem string
	// Err is the cause of the decoding error, or nil.
	Err error
}

func (e *EntryError) Error() string {
	text := ".metadata.managedFields"
	if e.Index >= 0 {
		text += "[" + strconv.Itoa(e.Index) + "]"
	}
	text += ": " + e.Problem
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return text
}

func (e *EntryError) Unwrap() error { return e.Err }

// describe returns the kind of a value and the first 60 bytes of its JSON for error messages, for instance: string
// "nginx".
func describe(v document.Value) string { return string(appendDescription(nil, v)) }

// appendDescription appends the result of describe(v) to dst.
func appendDescription(dst []byte, v document.Value) []byte {
	const maxBytes = 60
	switch v.Kind() {
	case document.Absent:
		return append(dst, "absent"...)
	case document.Null:
		return append(dst, "null"...)
	}
	dst = append(append(dst, v.Kind().String()...), ' ')
	var array [2 * maxBytes]byte
	text := appendPrefix(array[:0], v, maxBytes)
	if len(text) > maxBytes {
		dst = append(dst, bytes.ToValidUTF8(text[:maxBytes], nil)...)
		return append(dst, "…"...)
	}
	return append(dst, text...)
}

// appendPrefix appends the JSON of a value up to the first field or item that ends after maxBytes bytes, so the cost
// is bounded for values of any size. Truncated containers are closed.
func appendPrefix(dst []byte, v document.Value, maxBytes int) []byte {
	switch v.Kind() {
	case document.String:
		return document.AppendString(dst, v.Text()[:min(len(v.Text()), maxBytes+1)])
	case document.List:
		dst = append(dst, '[')
		for i := 0; i < v.Len() && len(dst) <= maxBytes; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = appendPrefix(dst, v.At(i), maxBytes)
		}
		return append(dst, ']')
	case document.Map:
		dst = append(dst, '{')
		for i := 0; i < v.Len() && len(dst) <= maxBytes; i++ {
			if i > 0 {
				dst = append(dst, ',')
			}
			dst = document.AppendString(dst, v.Name(i))
			dst = append(dst, ':')
			dst = appendPrefix(dst, v.At(i), maxBytes)
		}
		return append(dst, '}')
	}
	return v.AppendJSON(dst)
}
