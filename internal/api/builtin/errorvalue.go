package builtin

import (
	"encoding/json"

	"github.com/cadastre/cadastre/document"
)

// jsonValue is the BadValue of a field.Error whose message shows a list or map as JSON.
type jsonValue struct{ value document.Value }

// MarshalJSON implements json.Marshaler. It is called only when the error is formatted.
func (v jsonValue) MarshalJSON() ([]byte, error) { return []byte(v.value.JSON()), nil }

// errorValue converts v to a BadValue of a field.Error for which the error's message equals that of kube-apiserver.
func errorValue(v document.Value) any {
	switch v.Kind() {
	case document.String:
		return v.Text()
	case document.Bool:
		return v.Bool()
	case document.Number:
		if i, ok := v.Int64(); ok {
			return i
		}
		return json.Number(v.Text())
	case document.Absent, document.Null:
		return json.RawMessage("null")
	}
	return jsonValue{v}
}

// errorMap converts v, a map, to a BadValue of a field.Error; to null if v is not a map.
func errorMap(v document.Value) any {
	if v.Kind() != document.Map {
		return json.RawMessage("null")
	}
	return jsonValue{v}
}
