package builtin

import (
	"encoding/json"

	"github.com/cadastre/cadastre/document"
)

// jsonValue is a value of an error that is shown as JSON.
type jsonValue struct{ value document.Value }

// MarshalJSON is called when the error is formatted.
func (s jsonValue) MarshalJSON() ([]byte, error) { return []byte(s.value.JSON()), nil }

// errorValue returns a value for use in a field.Error.
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

// errorMap returns a map for use in a field.Error: null if it is absent.
func errorMap(v document.Value) any {
	if v.Kind() != document.Map {
		return json.RawMessage("null")
	}
	return jsonValue{v}
}
