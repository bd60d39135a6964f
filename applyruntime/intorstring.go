package applyruntime

import (
	"bytes"
	"encoding/json"
	"strconv"
)

// IntOrString is a value that is an integer or a string, such as a port or a percentage. The zero value is 0.
type IntOrString struct {
	// IsString selects the value: Text if true, Int if false.
	IsString bool
	Int      int64
	Text     string
}

// FromInt returns the integer i.
func FromInt(i int64) IntOrString { return IntOrString{Int: i} }

// FromString returns the string s.
func FromString(s string) IntOrString { return IntOrString{IsString: true, Text: s} }

// String returns the value as text.
func (v IntOrString) String() string {
	if v.IsString {
		return v.Text
	}
	return strconv.FormatInt(v.Int, 10)
}

// MarshalJSON returns a JSON number or string.
func (v IntOrString) MarshalJSON() ([]byte, error) {
	if v.IsString {
		return json.Marshal(v.Text)
	}
	return strconv.AppendInt(nil, v.Int, 10), nil
}

// UnmarshalJSON reads a JSON number without a fraction, or a string.
func (v *IntOrString) UnmarshalJSON(data []byte) error {
	*v = IntOrString{}
	if bytes.HasPrefix(data, []byte(`"`)) {
		v.IsString = true
		return json.Unmarshal(data, &v.Text)
	}
	return json.Unmarshal(data, &v.Int)
}

// Identity returns the name and namespace of an object of any type that [Extract] accepts.
func Identity(object any) (name, namespace string, err error) {
	tree, err := decodeObject(object)
	if err != nil {
		return "", "", err
	}
	metadata, _ := tree["metadata"].(map[string]any)
	name, _ = metadata["name"].(string)
	namespace, _ = metadata["namespace"].(string)
	return name, namespace, nil
}
