package protobuf

import (
	"fmt"
	"reflect"
	"strings"
	"sync"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/scheme"
)

// knownKinds caches messages by their types.
var knownKinds sync.Map

// MessageFor returns the message of a kind; nil if the kind has no Go type.
func MessageFor(t Type) (*Message, error) {
	if m, ok := knownKinds.Load(t); ok {
		return m.(*Message), nil
	}
	of, ok := scheme.GoType(t.APIVersion, t.Kind)
	if !ok || strings.HasPrefix(t.APIVersion, apiextensionsv1.GroupName+"/") {
		// CustomResourceDefinitions have fields of several JSON types, which struct tags do not describe.
		return nil, nil // not cached: clients choose the names of kinds
	}
	m, err := MessageOf(of)
	if err != nil {
		return nil, fmt.Errorf("protobuf of %s %s: %w", t.APIVersion, t.Kind, err)
	}
	knownKinds.Store(t, m)
	return m, nil
}

// NoTypeError is the error for objects of kinds without a Go type.
type NoTypeError struct{ Type Type }

func (e *NoTypeError) Error() string {
	return fmt.Sprintf("%s of %s has no protobuf: only built-in kinds have", e.Type.Kind, e.Type.APIVersion)
}

// Encode encodes an object. It fails with a *NoTypeError if its kind has no Go type.
func Encode(v document.Value) (Object, error) {
	t := TypeOf(v)
	m, err := MessageFor(t)
	if err != nil {
		return Object{}, err
	}
	if m == nil {
		return Object{}, &NoTypeError{t}
	}
	return NewObject(m, v), nil
}

// partialMessage is the message of PartialObjectMetadata.
var partialMessage = sync.OnceValues(func() (*Message, error) { return MessageOf(reflect.TypeFor[metav1.PartialObjectMetadata]()) })

// EncodeMetadata encodes the metadata of an object, which has the same message for all kinds.
func EncodeMetadata(v document.Value) (Object, error) {
	m, err := partialMessage()
	if err != nil {
		return Object{}, err
	}
	return NewObject(m, v), nil
}

// AppendWhole appends the object in its envelope.
func (o Object) AppendWhole(dst []byte, drop bool) []byte {
	dst = o.is.AppendEnvelope(dst, o.Size(drop))
	return AppendEnvelopeEnd(o.Append(dst, drop))
}

// AppendPartial appends an object of type as, in its envelope, with the metadata of this object.
func (o Object) AppendPartial(dst []byte, as Type, drop bool) []byte {
	dst = as.AppendEnvelope(dst, o.MetadataSize(drop))
	return AppendEnvelopeEnd(o.AppendMetadata(dst, drop))
}

// AppendTyped appends a Go object in its envelope. It fails if the Go type does not implement protobuf.
func AppendTyped(dst []byte, object runtime.Object) ([]byte, error) {
	marshaler, ok := object.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return dst, fmt.Errorf("encode %T: it has no protobuf", object)
	}
	raw, err := marshaler.Marshal()
	if err != nil {
		return dst, fmt.Errorf("encode %T: %w", object, err)
	}
	apiVersion, kind := object.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	dst = Type{APIVersion: apiVersion, Kind: kind}.AppendEnvelope(dst, len(raw))
	return AppendEnvelopeEnd(append(dst, raw...)), nil
}
