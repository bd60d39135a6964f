package packed

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/document"
)

// knownKinds are the messages of kinds that somebody has asked for, by their types.
var knownKinds sync.Map

// messageFor returns the message of a kind, nil if it has no Go type.
func messageFor(t Type) (*Message, error) {
	if m, ok := knownKinds.Load(t); ok {
		return m.(*Message), nil
	}
	of, ok := GoType(t.APIVersion, t.Kind)
	if !ok || strings.HasPrefix(t.APIVersion, apiextensionsv1.GroupName+"/") {
		// Definitions have fields that are of several types in JSON, which tags don't tell.
		return nil, nil // not noted: there is no end to the names that kinds may have
	}
	m, err := MessageOf(of)
	if err != nil {
		return nil, fmt.Errorf("protobuf of %s %s: %w", t.APIVersion, t.Kind, err)
	}
	knownKinds.Store(t, m)
	return m, nil
}

// NoTypeError says that a kind can't be written in protobuf.
type NoTypeError struct{ Type Type }

func (e *NoTypeError) Error() string {
	return fmt.Sprintf("%s of %s has no protobuf: only built-in kinds have", e.Type.Kind, e.Type.APIVersion)
}

// Protobuf returns an object in protobuf. It fails with a *NoTypeError if its kind has none.
func Protobuf(v document.Value) (Object, error) {
	t := typeOf(v)
	m, err := messageFor(t)
	if err != nil {
		return Object{}, err
	}
	if m == nil {
		return Object{}, &NoTypeError{t}
	}
	return NewObject(m, v), nil
}

// partialMessage is that of objects of which only the metadata is left.
var partialMessage = sync.OnceValues(func() (*Message, error) { return MessageOf(reflect.TypeFor[metav1.PartialObjectMetadata]()) })

// ProtobufMetadata returns the metadata of an object in protobuf, which every kind has.
func ProtobufMetadata(v document.Value) (Object, error) {
	m, err := partialMessage()
	if err != nil {
		return Object{}, err
	}
	return NewObject(m, v), nil
}

// CBOR returns an object in CBOR.
func CBOR(v document.Value) (*CBORObject, error) {
	m, err := messageFor(typeOf(v))
	if err != nil {
		return nil, err
	}
	o := NewCBORObject(m, v)
	return &o, nil
}

// AppendAnswer appends the object as an answer: it says what it is.
func (o Object) AppendAnswer(dst []byte, drop bool) []byte {
	dst = o.is.AppendEnvelope(dst, o.Size(drop))
	return AppendEnvelopeEnd(o.Append(dst, drop))
}

// AppendPartialAnswer appends an object of another type that has the metadata of this one, and nothing else.
func (o Object) AppendPartialAnswer(dst []byte, as Type, drop bool) []byte {
	dst = as.AppendEnvelope(dst, o.MetadataSize(drop))
	return AppendEnvelopeEnd(o.AppendMetadata(dst, drop))
}
