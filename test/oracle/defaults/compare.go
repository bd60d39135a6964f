package defaults

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
)

// Covers returns an error unless Cadastre's result contains all values of kube-apiserver's result. Further values in
// Cadastre's result must be empty values of the input, which Cadastre retains and Go omits when it encodes an object.
// The error names the first difference.
func Covers(path string, cadastre, upstream, input document.Value) error {
	switch {
	case upstream.IsAbsent():
		if input.IsAbsent() {
			return fmt.Errorf("%s: expected no value, received %v", path, cadastre)
		}
		return requireEmpty(path, cadastre)
	case cadastre.Kind() == document.Map && upstream.Kind() == document.Map:
		return coversMap(path, cadastre, upstream, input)
	case cadastre.Kind() == document.List && upstream.Kind() == document.List && cadastre.Len() == upstream.Len():
		for i := range cadastre.Len() {
			var from document.Value
			if input.Kind() == document.List && i < input.Len() {
				from = input.At(i)
			}
			if err := Covers(fmt.Sprintf("%s[%d]", path, i), cadastre.At(i), upstream.At(i), from); err != nil {
				return err
			}
		}
		return nil
	case document.Equal(cadastre, upstream), upstream.IsNull() && cadastre.Len() == 0 && !cadastre.IsScalar() && !cadastre.IsAbsent():
		return nil
	}
	return fmt.Errorf("%s: expected %v, received %v", path, upstream, cadastre)
}

func coversMap(path string, cadastre, upstream, input document.Value) error {
	for name, value := range upstream.Fields() {
		if err := Covers(path+"."+name, cadastre.Get(name), value, input.Get(name)); err != nil {
			return err
		}
	}
	for name, value := range cadastre.Fields() {
		if upstream.Get(name).IsAbsent() {
			if err := Covers(path+"."+name, value, document.Value{}, input.Get(name)); err != nil {
				return err
			}
		}
	}
	return nil
}

// requireEmpty returns an error unless v is a zero value or an empty map or list, which Go may omit.
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
	return fmt.Errorf("%s: expected no value or an empty one, because kube-apiserver omits it; received %v", path, v)
}
