package encoding

import (
	"encoding/json"
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
)

// Codec converts one document at a time. It is the minimum that an encoding implements; NewSerializer derives a Serializer
// from it.
type Codec struct {
	// Decode returns a request body as JSON, or as YAML; see Serializer.Decode.
	Decode func(body string) (string, error)
	// Append appends a document to dst in the encoding.
	Append func(dst []byte, v document.Value) []byte
	// AppendEvent appends a framed watch event to dst. object is a document that Append has encoded. AppendEvent is nil for
	// encodings without watches.
	AppendEvent func(dst []byte, eventType string, object []byte) []byte
}

// NewSerializer returns a Serializer that builds every response as JSON first and then converts it. Lists are converted as a
// whole. For encodings that support watches, the encoded objects are cached in the watch cache.
func NewSerializer(c Codec) Serializer {
	s := &documentSerializer{Codec: c}
	encode := func(v document.Value) ([]byte, error) { return c.Append(nil, v), nil }
	s.whole = newForm(encode, size)
	s.stripped = newForm(func(v document.Value) ([]byte, error) { return encode(withoutManagedFields(v)) }, size)
	return s
}

func size(encoded []byte) int { return cap(encoded) }

func withoutManagedFields(v document.Value) document.Value {
	metadata := v.Get("metadata")
	if metadata.Kind() != document.Map {
		return v
	}
	return v.With("metadata", metadata.Without("managedFields"))
}

// documentSerializer is the Serializer that NewSerializer derives from a Codec.
type documentSerializer struct {
	Codec
	// whole and stripped are the cached encodings of objects with and without managedFields.
	whole, stripped *form[[]byte]
}

func (s *documentSerializer) Decode(body string, _ schema.GroupVersionKind) (string, error) {
	return s.Codec.Decode(body)
}

func (s *documentSerializer) AppendObject(dst []byte, v View, o Object) ([]byte, error) {
	if s.Codec.AppendEvent == nil || v.Shape != Whole {
		return s.appendJSON(dst, appendShaped(nil, &v, o))
	}
	encoded, err := s.cached(v, o)
	return append(dst, encoded...), err
}

func (s *documentSerializer) AppendList(dst []byte, v View, l List, objects iter.Seq[Object], _ Sink) ([]byte, error) {
	return s.appendJSON(dst, appendShapedList(nil, &v, &l, objects))
}

func (s *documentSerializer) AppendEvent(dst []byte, v View, eventType string, o Object) ([]byte, error) {
	if s.Codec.AppendEvent == nil {
		return dst, fmt.Errorf("%s has no watch events", v.encoding())
	}
	var encoded []byte
	var err error
	if v.Shape == Whole {
		encoded, err = s.cached(v, o)
	} else {
		encoded, err = s.appendJSON(nil, appendShaped(nil, &v, o))
	}
	if err != nil {
		return dst, err
	}
	return s.Codec.AppendEvent(dst, eventType, encoded), nil
}

func (s *documentSerializer) AppendTyped(dst []byte, _ Format, object runtime.Object) ([]byte, error) {
	v, err := typedDocument(object)
	if err != nil {
		return dst, err
	}
	return s.Append(dst, v), nil
}

// cached returns the cached encoding of o, without managedFields if v drops them.
func (s *documentSerializer) cached(v View, o Object) ([]byte, error) {
	if v.Drop {
		return s.stripped.encoding(o)
	}
	return s.whole.encoding(o)
}

// appendJSON converts a response from JSON to the encoding.
func (s *documentSerializer) appendJSON(dst, text []byte) ([]byte, error) {
	v, err := document.ParseJSONLimited(text, noLimit)
	if err != nil {
		return dst, fmt.Errorf("encode a response: %w", err)
	}
	return s.Append(dst, v), nil
}

// typedDocument converts a Go object to a document with the same JSON.
func typedDocument(object runtime.Object) (document.Value, error) {
	text, err := json.Marshal(object)
	if err != nil {
		return document.Value{}, fmt.Errorf("encode %T: %w", object, err)
	}
	v, err := document.ParseJSONLimited(text, noLimit)
	if err != nil {
		return document.Value{}, fmt.Errorf("encode %T: %w", object, err)
	}
	return v, nil
}
