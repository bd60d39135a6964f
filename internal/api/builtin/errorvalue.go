package builtin

import (
	"encoding/json"

	"github.com/cadastre/cadastre/document"
)

// jsonValue is the BadValue of a field.Error whose message shows a list or map as JSON.
type jsonValue struct{ value document.Value }

// MarshalJSON implements json.Marshaler. It is called only if the error is formatted, so that other errors cost nothing.
func (v jsonValue) MarshalJSON() ([]byte, error) { return []byte(v.value.JSON()), nil }

// errorValue returns a value for BadValue of a field.Error, so that the error's message equals kube-apiserver's.
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

// errorMap returns a map for BadValue of a field.Error; null if the value is not a map.
func errorMap(v document.Value) any {
	if v.Kind() != document.Map {
		return json.RawMessage("null")
	}
	return jsonValue{v}
}
