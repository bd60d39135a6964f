package policy

import (
	"encoding/json"
	"fmt"
	"reflect"
	"strconv"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	"google.golang.org/protobuf/types/known/structpb"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"github.com/cadastre/cadastre/document"
)

// documentOf returns a CEL value as a document. It supports objects, maps with strings as keys, and lists, nested in any way, and
// scalars; timestamps, durations and bytes become strings as in CEL's conversion to JSON. An error names the path of the value.
func documentOf(v ref.Val) (document.Value, error) { return valueConverter{}.fromCEL(v, "") }

// configurationOf returns a CEL value as an apply configuration. Unlike documentOf it does not accept null literals, because
// applying null does not remove a field.
func configurationOf(v ref.Val) (document.Value, error) {
	return valueConverter{rejectNull: true}.fromCEL(v, "")
}

// valueConverter converts CEL values to documents.
type valueConverter struct{ rejectNull bool }

func (c valueConverter) fromCEL(v ref.Val, path string) (document.Value, error) {
	switch v := v.(type) {
	case types.Null:
		if c.rejectNull {
			return document.Value{}, fmt.Errorf("%s: expected a value, received null; leave the field out, or unset it", path)
		}
		return document.NewNull(), nil
	case types.Bool, types.Int, types.Double, types.String:
		return document.FromGo(v.Value())
	case types.Uint:
		return document.NewNumber(strconv.FormatUint(uint64(v), 10))
	case *types.Err:
		return document.Value{}, fmt.Errorf("%s: %w", path, v)
	case *dynamic.ObjectVal:
		native, err := v.ConvertToNative(reflect.TypeFor[map[string]any]())
		if err != nil {
			return document.Value{}, fmt.Errorf("object%s: %w", path, err)
		}
		return c.fromGo(native, path)
	case traits.Mapper:
		return c.fromMapper(v, path)
	case traits.Lister:
		var items []document.Value
		for i := v.Iterator(); i.HasNext() == types.True; {
			item, err := c.fromCEL(i.Next(), path+"["+strconv.Itoa(len(items))+"]")
			if err != nil {
				return item, err
			}
			items = append(items, item)
		}
		return document.NewList(items...), nil
	}
	return fromJSON(v, path)
}

func (c valueConverter) fromMapper(v traits.Mapper, path string) (document.Value, error) {
	var fields []document.Field
	for i := v.Iterator(); i.HasNext() == types.True; {
		key := i.Next()
		name, ok := key.Value().(string)
		if !ok {
			return document.Value{}, fmt.Errorf("%s: map key %q is of type %T, not string", path, key, key)
		}
		value, err := c.fromCEL(v.Get(key), path+"."+name)
		if err != nil {
			return value, err
		}
		fields = append(fields, document.Field{Name: name, Value: value})
	}
	return document.NewMap(fields...), nil
}

// fromGo converts a field value of a CEL object: a Go value that may contain CEL values.
func (c valueConverter) fromGo(v any, path string) (document.Value, error) {
	switch v := v.(type) {
	case nil, bool, int64, float64, string:
		return document.FromGo(v)
	case ref.Val:
		return c.fromCEL(v, path)
	case map[string]any:
		fields := make([]document.Field, 0, len(v))
		for name, value := range v {
			field, err := c.fromGo(value, path+"."+name)
			if err != nil {
				return field, err
			}
			fields = append(fields, document.Field{Name: name, Value: field})
		}
		return document.NewMap(fields...), nil
	case []any:
		items := make([]document.Value, len(v))
		for i, value := range v {
			item, err := c.fromGo(value, path+"["+strconv.Itoa(i)+"]")
			if err != nil {
				return item, err
			}
			items[i] = item
		}
		return document.NewList(items...), nil
	}
	return c.fromCEL(types.DefaultTypeAdapter.NativeToValue(v), path)
}

// fromJSON converts a value by CEL's own conversion to JSON.
func fromJSON(v ref.Val, path string) (document.Value, error) {
	value, err := v.ConvertToNative(reflect.TypeFor[*structpb.Value]())
	if err != nil {
		return document.Value{}, fmt.Errorf("%s: %w", path, err)
	}
	text, err := json.Marshal(value)
	if err != nil {
		return document.Value{}, fmt.Errorf("%s: %w", path, err)
	}
	return document.ParseJSONLimited(text, document.Limits{MaxBytes: -1})
}
