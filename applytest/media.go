package applytest

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"mime"
	"strings"

	"github.com/fxamacker/cbor/v2"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/scheme"
)

// Scripts contain all bodies as YAML, regardless of the encoding of the request. For binary encodings this package uses
// Kubernetes' own serializers, so that Cadastre's encodings are compared with an independent implementation.

// encoding is an encoding of request and response bodies.
type encoding struct {
	// suffix is the last part of the media types of this encoding, such as json.
	suffix string
	decode func(body []byte) (document.Value, error)
	// encode converts a body to the encoding. It is nil for text encodings, for which the text of the script is the
	// body.
	encode func(document.Value) ([]byte, error)
	// events returns a function that reads the next event of a watch; nil if the encoding does not support watches.
	events func(body io.Reader) func() (event, error)
}

var jsonEncoding = encoding{suffix: "json", decode: func(body []byte) (document.Value, error) { return document.ParseJSON(body) }, events: jsonEvents}

var encodings = []encoding{
	jsonEncoding,
	{suffix: "yaml", decode: document.ParseYAML},
	{suffix: "vnd.kubernetes.protobuf", decode: decodeProtobuf, encode: encodeProtobuf, events: protobufEvents},
	{suffix: "cbor", decode: decodeCBOR, encode: encodeCBOR, events: cborEvents},
}

// encodingOf returns the encoding for contentType; ok is false if this package does not know that media type.
func encodingOf(contentType string) (e encoding, ok bool) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return encoding{}, false
	}
	mediaType = strings.TrimSuffix(mediaType, "-seq") // "-seq" is the suffix of the media types of watches
	for _, e := range encodings {
		if strings.HasSuffix(mediaType, e.suffix) {
			return e, true
		}
	}
	return encoding{}, false
}

// encodeBody converts text, the YAML of a body in a script, to the encoding for contentType. ok is false for text encodings,
// whose bodies are sent unchanged.
func encodeBody(contentType, text string) (body []byte, ok bool, err error) {
	e, _ := encodingOf(contentType)
	if e.encode == nil {
		return nil, false, nil
	}
	value, err := document.ParseYAML([]byte(text))
	if err != nil {
		return nil, true, fmt.Errorf("the body: %w", err)
	}
	body, err = e.encode(value)
	return body, true, err
}

// parseBody decodes raw, the body of a response. The result is the absent Value if contentType is not an encoding of the
// Kubernetes API.
func parseBody(contentType string, raw []byte) (document.Value, error) {
	e, ok := encodingOf(contentType)
	if !ok {
		return document.Value{}, nil
	}
	return e.decode(raw)
}

// eventReader returns a function that reads the next event of a watch from body, in the encoding for contentType.
func eventReader(contentType string, body io.Reader) func() (event, error) {
	e, _ := encodingOf(contentType)
	if e.events == nil {
		e = jsonEncoding
	}
	return e.events(body)
}

func jsonEvents(body io.Reader) func() (event, error) {
	decoder := json.NewDecoder(body)
	return func() (event, error) {
		var next struct {
			Type   string
			Object json.RawMessage
		}
		if err := decoder.Decode(&next); err != nil {
			return event{}, err
		}
		object, err := document.ParseJSON([]byte(next.Object))
		return event{next.Type, object}, err
	}
}

// cborPrefix is the self-described CBOR tag, which Kubernetes' clients send.
const cborPrefix = "\xd9\xd9\xf7"

func encodeCBOR(value document.Value) ([]byte, error) {
	encoded, err := direct.Marshal(value.ToGo())
	return append([]byte(cborPrefix), encoded...), err
}

func decodeCBOR(raw []byte) (document.Value, error) {
	var value any
	if err := direct.Unmarshal(raw, &value); err != nil {
		return document.Value{}, err
	}
	return document.FromGo(value)
}

// cborEvents returns a function that reads the next event from a sequence of CBOR data items.
func cborEvents(body io.Reader) func() (event, error) {
	decoder := cbor.NewDecoder(body)
	return func() (event, error) {
		var frame cbor.RawMessage
		if err := decoder.Decode(&frame); err != nil {
			return event{}, err
		}
		v, err := decodeCBOR(frame)
		return event{v.Get("type").Text(), v.Get("object")}, err
	}
}

// protobufPrefix is the prefix of every object that Kubernetes encodes in protobuf.
const protobufPrefix = "k8s\x00"

func encodeProtobuf(value document.Value) ([]byte, error) {
	apiVersion, kind := value.Get("apiVersion").Text(), value.Get("kind").Text()
	object, err := scheme.Builtin().New(schema.FromAPIVersionAndKind(apiVersion, kind))
	if err != nil {
		return nil, fmt.Errorf("the body: expected a kind with a protobuf encoding, received %s %s: %w", apiVersion, kind, err)
	}
	if err := json.Unmarshal([]byte(value.JSON()), object); err != nil {
		return nil, fmt.Errorf("decode the body as %T: %w", object, err)
	}
	var encoded bytes.Buffer
	err = protobuf.NewSerializer(scheme.Builtin(), scheme.Builtin()).Encode(object, &encoded)
	return encoded.Bytes(), err
}

// decodeProtobuf decodes an envelope (runtime.Unknown), which contains an object and its type, and returns the object.
func decodeProtobuf(raw []byte) (document.Value, error) {
	content, ok := bytes.CutPrefix(raw, []byte(protobufPrefix))
	if !ok {
		return document.Value{}, errors.New("expected Kubernetes' protobuf, received bytes without its prefix")
	}
	var envelope runtime.Unknown
	if err := envelope.Unmarshal(content); err != nil {
		return document.Value{}, err
	}
	object, err := newObject(envelope.APIVersion, envelope.Kind)
	if err != nil {
		return document.Value{}, err
	}
	if err := object.(interface{ Unmarshal([]byte) error }).Unmarshal(envelope.Raw); err != nil {
		return document.Value{}, err
	}
	object.GetObjectKind().SetGroupVersionKind(schema.FromAPIVersionAndKind(envelope.APIVersion, envelope.Kind))
	text, err := json.Marshal(object)
	if err != nil {
		return document.Value{}, err
	}
	return document.ParseJSON(text)
}

// newObject returns an empty Go object for apiVersion and kind. It returns an error unless they name a built-in kind or
// PartialObjectMetadata.
func newObject(apiVersion, kind string) (runtime.Object, error) {
	switch kind {
	case "PartialObjectMetadata":
		return &metav1.PartialObjectMetadata{}, nil
	case "PartialObjectMetadataList":
		return &metav1.PartialObjectMetadataList{}, nil
	}
	return scheme.Builtin().New(schema.FromAPIVersionAndKind(apiVersion, kind))
}

// protobufEvents returns a function that reads the next event from body. Each event is preceded by its length, and contains
// the object in an envelope (runtime.Unknown).
func protobufEvents(body io.Reader) func() (event, error) {
	reader := bufio.NewReader(body)
	return func() (event, error) {
		var length [4]byte
		if _, err := io.ReadFull(reader, length[:]); err != nil {
			return event{}, err
		}
		frame := make([]byte, binary.BigEndian.Uint32(length[:]))
		if _, err := io.ReadFull(reader, frame); err != nil {
			return event{}, err
		}
		var read metav1.WatchEvent
		if err := read.Unmarshal(frame); err != nil {
			return event{}, err
		}
		object, err := decodeProtobuf(read.Object.Raw)
		return event{read.Type, object}, err
	}
}
