package builtin

import (
	"encoding/json"

	"github.com/cadastre/cadastre/document"
)

// shownValue is a part of a document in an error, written as JSON.
type shownValue struct{ value document.Value }

// MarshalJSON is called by the error's text.
func (s shownValue) MarshalJSON() ([]byte, error) { return []byte(s.value.JSON()), nil }

// shown returns a value as an error shows it.
func shown(v document.Value) any {
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
	return shownValue{v}
}

// shownMap returns a map as an error shows it: one that is not there is null.
func shownMap(v document.Value) any {
	if v.Kind() != document.Map {
		return json.RawMessage("null")
	}
	return shownValue{v}
}
