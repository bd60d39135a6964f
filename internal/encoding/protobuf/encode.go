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

// knownKinds maps a Type to its *Message; kinds without a Go type are not cached.
var knownKinds sync.Map

// MessageFor returns the message of a kind; nil if the kind has no Go type or its Go type cannot be described by a Message.
func MessageFor(t Type) (*Message, error) {
	if m, ok := knownKinds.Load(t); ok {
		return m.(*Message), nil
	}
	typ, ok := scheme.GoType(t.APIVersion, t.Kind)
	if !ok || strings.HasPrefix(t.APIVersion, apiextensionsv1.GroupName+"/") {
		// Some fields of CustomResourceDefinitions can have several JSON types, which struct tags do not describe.
		return nil, nil // not cached, because clients choose the names of kinds
	}
	m, err := MessageOf(typ)
	if err != nil {
		return nil, fmt.Errorf("protobuf of %s %s: %w", t.APIVersion, t.Kind, err)
	}
	knownKinds.Store(t, m)
	return m, nil
}

// NoTypeError is returned for an object whose kind has no Go type and therefore no protobuf encoding.
type NoTypeError struct{ Type Type }

func (e *NoTypeError) Error() string {
	return fmt.Sprintf("%s of %s has no protobuf encoding; only built-in kinds have one", e.Type.Kind, e.Type.APIVersion)
}

// Encode encodes an object. It returns a *NoTypeError if the object's kind has no Go type.
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

// partialMessage returns the message of PartialObjectMetadata.
var partialMessage = sync.OnceValues(func() (*Message, error) { return MessageOf(reflect.TypeFor[metav1.PartialObjectMetadata]()) })

// EncodeMetadata encodes only the metadata of an object, which has the same message for all kinds.
func EncodeMetadata(v document.Value) (Object, error) {
	m, err := partialMessage()
	if err != nil {
		return Object{}, err
	}
	return NewObject(m, v), nil
}

// AppendWhole appends the object in an envelope with its type; drop omits managedFields.
func (o Object) AppendWhole(dst []byte, drop bool) []byte {
	dst = o.typ.AppendEnvelope(dst, o.Size(drop))
	return AppendEnvelopeEnd(o.Append(dst, drop))
}

// AppendPartial appends, in an envelope, a PartialObjectMetadata that has the type typ and the metadata of o; drop omits
// managedFields.
func (o Object) AppendPartial(dst []byte, typ Type, drop bool) []byte {
	dst = typ.AppendEnvelope(dst, o.MetadataSize(drop))
	return AppendEnvelopeEnd(o.AppendMetadata(dst, drop))
}

// AppendTyped appends a Go object in an envelope with its type. It returns an error if the Go type has no protobuf
// marshaller.
func AppendTyped(dst []byte, object runtime.Object) ([]byte, error) {
	marshaler, ok := object.(interface{ Marshal() ([]byte, error) })
	if !ok {
		return dst, fmt.Errorf("encode %T: the Go type has no protobuf marshaller", object)
	}
	raw, err := marshaler.Marshal()
	if err != nil {
		return dst, fmt.Errorf("encode %T: %w", object, err)
	}
	apiVersion, kind := object.GetObjectKind().GroupVersionKind().ToAPIVersionAndKind()
	dst = Type{APIVersion: apiVersion, Kind: kind}.AppendEnvelope(dst, len(raw))
	return AppendEnvelopeEnd(append(dst, raw...)), nil
}
