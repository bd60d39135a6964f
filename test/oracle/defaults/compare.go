package defaults

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
)

// Covers checks that our result has all values of upstream's result, and in addition only empty values of the input:
// Go omits empty values, we retain them. It returns the first difference.
func Covers(path string, ours, upstream, input document.Value) error {
	switch {
	case upstream.IsAbsent():
		if input.IsAbsent() {
			return fmt.Errorf("%s: expected no value, received %v", path, ours)
		}
		return requireEmpty(path, ours)
	case ours.Kind() == document.Map && upstream.Kind() == document.Map:
		return coversMap(path, ours, upstream, input)
	case ours.Kind() == document.List && upstream.Kind() == document.List && ours.Len() == upstream.Len():
		for i := range ours.Len() {
			var from document.Value
			if input.Kind() == document.List && i < input.Len() {
				from = input.At(i)
			}
			if err := Covers(fmt.Sprintf("%s[%d]", path, i), ours.At(i), upstream.At(i), from); err != nil {
				return err
			}
		}
		return nil
	case document.Equal(ours, upstream), upstream.IsNull() && ours.Len() == 0 && !ours.IsScalar() && !ours.IsAbsent():
		return nil
	}
	return fmt.Errorf("%s: expected %v, received %v", path, upstream, ours)
}

func coversMap(path string, ours, upstream, input document.Value) error {
	for name, value := range upstream.Fields() {
		if err := Covers(path+"."+name, ours.Get(name), value, input.Get(name)); err != nil {
			return err
		}
	}
	for name, value := range ours.Fields() {
		if upstream.Get(name).IsAbsent() {
			if err := Covers(path+"."+name, value, document.Value{}, input.Get(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// requireEmpty returns an error unless Go may omit the value: it is a zero value or an empty container.
func requireEmpty(path string, v document.Value) error {
	switch v.Kind() {
	case document.Map, document.List:
		if v.Len() == 0 {
			return nil
		}
	case document.String, document.Number:
		if v.Text() == "" || v.Text() == "0" {
			return nil
		}
	case document.Bool:
		if !v.Bool() {
			return nil
		}
	}
	return fmt.Errorf("%s: upstream omits %v, which is not empty", path, v)
}
