package protobuf

import (
	"encoding"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"sync"

	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Message describes the protobuf encoding of a Go struct.
type Message struct {
	// fields are sorted by field number.
	fields []field
	// names maps JSON names to fields, including the fields of embedded structs. fieldIndexes maps the names of the message's
	// own fields to their indexes in fields.
	names        map[string]*field
	fieldIndexes map[string]int
	size         int // the size of the Go struct in memory, in bytes
}

// field is a field of a message.
type field struct {
	name        string // the JSON name; "" for an embedded struct
	number      int
	value       valueKind
	cardinality cardinality
	// message is the message of the field's value, of a list's items or of a map's values; nil if these are scalars.
	message *Message
}

// cardinality specifies how often a field occurs in a message.
type cardinality uint8

const (
	always   cardinality = iota // encoded even if the value is empty
	optional                    // encoded only if present: a pointer in Go
	repeated
	mapped // a map with string keys
)

// valueKind specifies how a value is encoded.
type valueKind uint8

const (
	text valueKind = iota
	boolean
	integer
	double
	bytes       // bytes, which are a base64 string in JSON
	message     // a message with fields, an object in JSON
	timestamp   // a message with seconds and nanoseconds
	microTime   // a timestamp, truncated to microseconds
	quantity    // a message with the text of the quantity
	intOrString // a message with the type, an integer and a string
	duration    // a message with the number of nanoseconds
	rawJSON     // a message with the text of any JSON value
	fieldsJSON  // a message with the JSON text of a FieldsV1
	stringList  // a message with a list of strings
)

var specialTypes = map[reflect.Type]valueKind{
	reflect.TypeFor[metav1.Time]():          timestamp,
	reflect.TypeFor[metav1.MicroTime]():     microTime,
	reflect.TypeFor[metav1.Duration]():      duration,
	reflect.TypeFor[metav1.FieldsV1]():      fieldsJSON,
	reflect.TypeFor[resource.Quantity]():    quantity,
	reflect.TypeFor[intstr.IntOrString]():   intOrString,
	reflect.TypeFor[runtime.RawExtension](): rawJSON,
}

var (
	messagesMu sync.Mutex
	messages   = map[reflect.Type]*Message{}
)

// MessageOf returns the message of a Go struct with protobuf tags, which it creates on first use. It returns an error if a
// field has no protobuf encoding.
func MessageOf(t reflect.Type) (*Message, error) {
	messagesMu.Lock()
	defer messagesMu.Unlock()
	return messageOf(t)
}

func messageOf(t reflect.Type) (*Message, error) {
	if m := messages[t]; m != nil {
		return m, nil // in a recursive type, the message may still be incomplete here
	}
	m := &Message{names: map[string]*field{}, fieldIndexes: map[string]int{}, size: int(t.Size())}
	messages[t] = m
	for i := range t.NumField() {
		f, ok, err := fieldOf(t.Field(i))
		if err != nil {
			delete(messages, t)
			return nil, fmt.Errorf("%v: %w", t, err)
		}
		if ok {
			m.fields = append(m.fields, f)
		}
	}
	slices.SortFunc(m.fields, func(a, b field) int { return a.number - b.number })
	for i := range m.fields {
		if f := &m.fields[i]; f.name != "" {
			m.names[f.name], m.fieldIndexes[f.name] = f, i
			continue
		}
		for name, f := range m.fields[i].message.names {
			m.names[name] = f
		}
	}
	return m, nil
}

// fieldOf parses the struct tags of a field; ok is false for fields without a protobuf tag.
func fieldOf(s reflect.StructField) (f field, ok bool, err error) {
	tag, ok := s.Tag.Lookup("protobuf")
	if !ok {
		return f, false, nil
	}
	parts := strings.Split(tag, ",")
	if len(parts) < 2 {
		return f, false, fmt.Errorf("%s: expected a protobuf tag with a field number, received %q", s.Name, tag)
	}
	if f.number, err = strconv.Atoi(parts[1]); err != nil {
		return f, false, fmt.Errorf("%s: expected a number in the protobuf tag: %w", s.Name, err)
	}
	name, _, _ := strings.Cut(s.Tag.Get("json"), ",")
	if f.name = name; name == "" && !s.Anonymous { // the fields of embedded structs are encoded in place of the struct
		return f, false, fmt.Errorf("%s: expected a name for JSON, received %q", s.Name, s.Tag.Get("json"))
	}
	if err := f.setType(s.Type); err != nil {
		return f, false, fmt.Errorf("%s: %w", s.Name, err)
	}
	return f, true, nil
}

// setType sets how values of a Go type are encoded.
func (f *field) setType(t reflect.Type) error {
	switch {
	case t.Kind() == reflect.Pointer:
		f.cardinality, t = optional, t.Elem()
	case isStringList(t):
	case isBytes(t):
		f.cardinality = optional // a nil []byte is not encoded
	case t.Kind() == reflect.Slice:
		f.cardinality, t = repeated, t.Elem()
	case t.Kind() == reflect.Map:
		f.cardinality, t = mapped, t.Elem()
	}
	var err error
	if special, ok := specialTypes[t]; ok {
		f.value = special
		return nil
	}
	switch t.Kind() {
	case reflect.String:
		f.value = text
	case reflect.Bool:
		f.value = boolean
	case reflect.Int32, reflect.Int64, reflect.Uint32, reflect.Uint64:
		f.value = integer
	case reflect.Float64:
		f.value = double
	case reflect.Struct:
		f.value = message
		f.message, err = messageOf(t)
	default:
		switch {
		case isStringList(t):
			f.value = stringList
		case isBytes(t):
			f.value = bytes
		default:
			return fmt.Errorf("expected a type with a protobuf encoding, received %v", t)
		}
	}
	return err
}

func isBytes(t reflect.Type) bool {
	return t.Kind() == reflect.Slice && t.Elem().Kind() == reflect.Uint8
}

// isStringList reports whether a type is a list of strings that is encoded as a message of its own, such as ExtraValue, which
// has its own marshaller.
func isStringList(t reflect.Type) bool {
	if t.Kind() != reflect.Slice || t.Elem().Kind() != reflect.String {
		return false
	}
	_, marshals := reflect.PointerTo(t).MethodByName("MarshalToSizedBuffer")
	return marshals && !t.Implements(reflect.TypeFor[encoding.TextMarshaler]())
}

// Lookup describes the field whose JSON name is name: isBytes reports whether it is []byte (base64 in JSON), isMap whether it
// is a map, and value is the message of its value, items or map values, which is nil for scalars. For a nil message or an
// unknown field, Lookup returns zero values.
func (m *Message) Lookup(name string) (isBytes, isMap bool, value *Message) {
	if m == nil {
		return false, false, nil
	}
	f := m.names[name]
	if f == nil {
		return false, false, nil
	}
	return f.value == bytes, f.cardinality == mapped, f.message
}
