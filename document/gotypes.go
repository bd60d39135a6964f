package document

import (
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"reflect"
	"strconv"
	"strings"
	"unicode/utf8"
)

// FromGo converts a Go value to a document. It supports the Go types of unstructured JSON directly: nil, bool, integers
// and floats, json.Number, string, []any, map[string]any and combinations of them. Values of other types are encoded
// with encoding/json and parsed. Strings must be UTF-8, and nesting is limited as in ParseJSON. Map entries with an
// absent Value are left out. Errors with a path are of type [*GoError].
func FromGo(v any) (Value, error) { return fromGo(v, 0) }

func fromGo(v any, depth int) (Value, error) {
	if depth > DefaultMaxDepth {
		return Value{}, fmt.Errorf("lists and maps are nested more than %d deep", DefaultMaxDepth)
	}
	switch v := v.(type) {
	case nil:
		return NewNull(), nil
	case Value:
		return v, nil
	case bool:
		return NewBool(v), nil
	case string:
		if !utf8.ValidString(v) {
			return Value{}, fmt.Errorf("expected text in UTF-8, received %q", shorten(v))
		}
		return NewString(v), nil
	case int64:
		return NewInt(v), nil
	case int:
		return NewInt(int64(v)), nil
	case int32:
		return NewInt(int64(v)), nil
	case float64:
		return newFloat(v)
	case json.Number:
		return NewNumber(v.String())
	case []any:
		return fromGoList(v, depth+1)
	case map[string]any:
		return fromGoMap(v, depth+1)
	}
	if r := reflect.ValueOf(v); r.CanFloat() {
		return newFloat(r.Float())
	}
	text, err := json.Marshal(v)
	if err != nil {
		return Value{}, fmt.Errorf("expected a Go value that can be written as JSON, received %T: %w", v, err)
	}
	return ParseJSONLimited(text, Limits{MaxBytes: -1})
}

func newFloat(f float64) (Value, error) {
	if math.IsNaN(f) || math.IsInf(f, 0) {
		return Value{}, fmt.Errorf("expected a number that JSON can express, received %v", f)
	}
	return NewNumber(string(appendFloat(nil, f)))
}

func fromGoList(list []any, depth int) (Value, error) {
	items := make([]Value, len(list))
	for i, item := range list {
		value, err := fromGo(item, depth)
		if err == nil && value.IsAbsent() {
			err = errors.New("expected a value, received an absent one in a list; leave it out or use null")
		}
		if err != nil {
			return Value{}, prefixGoPath("["+strconv.Itoa(i)+"]", err)
		}
		items[i] = value
	}
	return NewList(items...), nil
}

func fromGoMap(m map[string]any, depth int) (Value, error) {
	fields := make([]Field, 0, len(m))
	for name, item := range m {
		value, err := fromGo(item, depth)
		if err == nil && !utf8.ValidString(name) {
			err = fmt.Errorf("expected a name in UTF-8, received %q", shorten(name))
		}
		if err != nil {
			return Value{}, prefixGoPath("."+strings.ToValidUTF8(name, "\uFFFD"), err)
		}
		fields = append(fields, Field{name, value})
	}
	return NewMap(fields...), nil
}

// GoError is the error of FromGo for a part of a Go value that can't be converted.
type GoError struct {
	// Path is the position in the Go value, such as .spec.weights[2].
	Path string
	Err  error
}

func (e *GoError) Error() string { return e.Path + ": " + e.Err.Error() }

// Unwrap returns the underlying error, without the path.
func (e *GoError) Unwrap() error { return e.Err }

// prefixGoPath wraps an error in a GoError, or prepends the path element to the path if the error already is one.
func prefixGoPath(element string, err error) error {
	var inner *GoError
	if errors.As(err, &inner) {
		if len(inner.Path) < maxErrorPath {
			inner.Path = element + inner.Path
		}
		return inner
	}
	return &GoError{element, err}
}

// ToGo returns the value as the Go types of unstructured objects in Kubernetes: integers that fit are int64, other
// numbers float64. Null and absent values are nil. The result shares no memory with the document.
func (v Value) ToGo() any {
	v = v.parsed()
	switch v.Kind() {
	case Bool:
		return v.Bool()
	case String:
		return v.Text()
	case Number:
		if i, ok := v.Int64(); ok {
			return i
		}
		f, _ := v.Float64()
		return f
	case List:
		list := make([]any, v.Len())
		for i := range list {
			list[i] = v.At(i).ToGo()
		}
		return list
	case Map:
		m := make(map[string]any, v.Len())
		for name, field := range v.Fields() {
			m[name] = field.ToGo()
		}
		return m
	}
	return nil
}
