package encoding

import (
	"fmt"
	"iter"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// Encodings lists the encodings of the API. If an Accept clause such as */* matches several encodings, the first matching
// encoding in this list is used; error messages and OpenAPI list the encodings in this order.
//
// To add an encoding, declare it in a file of its own, as yaml.go does, and add it here.
var Encodings = []*Encoding{JSON, YAML, Protobuf, CBOR}

// Encoding is one serialization of API objects. The server, discovery and the watch cache depend only on these fields.
type Encoding struct {
	// MediaType is the Content-Type of objects, lists and Statuses, and of request bodies.
	MediaType string
	// StreamType is the media type of watch streams in Accept headers and OpenAPI. It is empty if the encoding has no
	// framing for watch events.
	StreamType string
	// StreamContentType is the Content-Type of watch responses if it differs from StreamType.
	StreamContentType string
	// ApplyType is the Content-Type of server-side apply patches in this encoding; empty if there is none.
	ApplyType types.PatchType

	// YAML reports whether Decode returns YAML instead of JSON. The write path then parses the body as JSON first, because
	// most clients send JSON, and as YAML if that fails.
	YAML bool
	// NeedsGoType reports whether only objects of kinds with a Go type can be encoded. Objects of other kinds can then be
	// encoded only as PartialObjectMetadata.
	NeedsGoType bool
	// BytesPerByte is the maximum memory in bytes of the text and the document that are decoded from one byte of a body; 0 for text
	// encodings, in which it depends on the number of values.
	BytesPerByte int64
	// Tables reports whether objects can be encoded as a Table.
	Tables bool

	Serializer
}

// Serializer decodes and encodes one encoding. Its methods are safe for concurrent use. They append to dst, which the caller
// owns, and retain neither dst nor the objects.
//
// NewSerializer returns an implementation for encodings that convert one document at a time.
type Serializer interface {
	// Decode returns a request body as JSON, or as YAML if Encoding.YAML is set. If Encoding.NeedsGoType is set, defaults is
	// the kind of a body that does not contain its kind. Decode rejects bodies that would use too much memory.
	Decode(body string, defaults schema.GroupVersionKind) (string, error)
	// AppendObject appends the response body for an object, in the shape of the view.
	AppendObject(dst []byte, v View, o Object) ([]byte, error)
	// AppendList appends the response body for a list, in the shape of the view. It iterates over the objects more than once.
	// If sink is not nil and the encoding can write a list in chunks, AppendList calls sink after each object, and returns
	// the bytes that sink has not consumed. It returns an error only before the first call of sink.
	AppendList(dst []byte, v View, l List, objects iter.Seq[Object], sink Sink) ([]byte, error)
	// AppendEvent appends a framed watch event. Objects of the watch cache hold their encodings, so each of them is encoded
	// once for all watches in the same encoding.
	AppendEvent(dst []byte, v View, eventType string, o Object) ([]byte, error)
	// AppendTyped appends the response body for a Go object that is not a resource, such as a Status or a discovery document.
	// Its TypeMeta must be set.
	AppendTyped(dst []byte, f Format, object runtime.Object) ([]byte, error)
}

// Sink consumes the bytes that were appended to a buffer so far, or leaves them in the buffer until there are more. It
// returns the buffer to which further bytes are appended; more is false if the client has disconnected.
type Sink func(buffer []byte) (rest []byte, more bool)

// String returns the media type.
func (e *Encoding) String() string { return e.MediaType }

// streamContentType returns the Content-Type of watch responses.
func (e *Encoding) streamContentType() string {
	if e.StreamContentType != "" {
		return e.StreamContentType
	}
	return e.StreamType
}

// DecodeBody calls Serializer.Decode, and adds the media type to its errors.
func (e *Encoding) DecodeBody(body string, defaults schema.GroupVersionKind) (string, error) {
	text, err := e.Decode(body, defaults)
	if err != nil {
		return "", fmt.Errorf("the body can't be read as %s: %w", e.MediaType, err)
	}
	return text, nil
}

// ForMediaType returns the encoding whose MediaType is mediaType; nil if there is none.
func ForMediaType(mediaType string) *Encoding {
	for _, e := range Encodings {
		if e.MediaType == mediaType {
			return e
		}
	}
	return nil
}

// ForApply returns the encoding whose ApplyType is patchType; nil if patchType is not a server-side apply patch.
func ForApply(patchType types.PatchType) *Encoding {
	for _, e := range Encodings {
		if e.ApplyType == patchType && patchType != "" {
			return e
		}
	}
	return nil
}

// MediaTypes returns the media types of all encodings.
func MediaTypes() (all []string) {
	for _, e := range Encodings {
		all = append(all, e.MediaType)
	}
	return all
}

// StreamTypes returns the media types of watch streams, of the encodings that support watches.
func StreamTypes() (all []string) {
	for _, e := range Encodings {
		if e.StreamType != "" {
			all = append(all, e.StreamType)
		}
	}
	return all
}

// ApplyTypes returns the media types of server-side apply patches, of the encodings that support them.
func ApplyTypes() (all []string) {
	for _, e := range Encodings {
		if e.ApplyType != "" {
			all = append(all, string(e.ApplyType))
		}
	}
	return all
}
