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
	"github.com/cadastre/cadastre/internal/packed"
)

// Scripts are written in YAML, whatever the media that a request asks for. Protobuf and CBOR are written and read by
// Kubernetes' own packages; of Cadastre's only the table of Go types is used.

// mediaProtobuf has objects of Kubernetes' own kinds.
const mediaProtobuf = "application/vnd.kubernetes.protobuf"

// isBinary is for media that nobody can write in a script.
func isBinary(contentType string) bool {
	return strings.Contains(contentType, "cbor") || strings.HasPrefix(contentType, mediaProtobuf)
}

// encodeBinary makes what is written as YAML a body of a binary media.
func encodeBinary(contentType, text string) ([]byte, error) {
	value, err := document.ParseYAML([]byte(text))
	if err != nil {
		return nil, fmt.Errorf("the body: %w", err)
	}
	if strings.HasPrefix(contentType, mediaProtobuf) {
		return encodeProtobuf(value)
	}
	encoded, err := direct.Marshal(value.ToGo())
	return append([]byte(cborTag), encoded...), err
}

// cborTag starts what says of itself that it is CBOR, as clients of Kubernetes do.
const cborTag = "\xd9\xd9\xf7"

func encodeProtobuf(value document.Value) ([]byte, error) {
	apiVersion, kind := value.Get("apiVersion").Text(), value.Get("kind").Text()
	object, err := packed.GoTypes().New(schema.FromAPIVersionAndKind(apiVersion, kind))
	if err != nil {
		return nil, fmt.Errorf("the body: expected a kind that protobuf has, received %s %s: %w", apiVersion, kind, err)
	}
	if err := json.Unmarshal([]byte(value.JSON()), object); err != nil {
		return nil, fmt.Errorf("the body: a %T: %w", object, err)
	}
	var encoded bytes.Buffer
	err = protobufSerializer().Encode(object, &encoded)
	return encoded.Bytes(), err
}

func protobufSerializer() *protobuf.Serializer {
	return protobuf.NewSerializer(packed.GoTypes(), packed.GoTypes())
}

// parseBody reads JSON, YAML, CBOR and protobuf. Anything else is absent.
func parseBody(contentType string, raw []byte) (document.Value, error) {
	mediaType, _, err := mime.ParseMediaType(contentType)
	if err != nil {
		return document.Value{}, nil
	}
	switch {
	case strings.HasSuffix(mediaType, "json"):
		return document.ParseJSON(raw)
	case strings.HasSuffix(mediaType, "yaml"):
		return document.ParseYAML(raw)
	case strings.HasSuffix(mediaType, "cbor"):
		return decodeCBOR(raw)
	case mediaType == mediaProtobuf:
		return decodeProtobuf(raw)
	}
	return document.Value{}, nil
}

func decodeCBOR(raw []byte) (document.Value, error) {
	var value any
	if err := direct.Unmarshal(raw, &value); err != nil {
		return document.Value{}, err
	}
	return document.FromGo(value)
}

// decodeProtobuf reads an object that says what it is.
func decodeProtobuf(raw []byte) (document.Value, error) {
	content, ok := packed.CutEnvelopePrefix(raw)
	if !ok {
		return document.Value{}, errors.New("expected protobuf of Kubernetes, received what does not begin as that")
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

// newObject makes an empty object of a kind that protobuf has.
func newObject(apiVersion, kind string) (runtime.Object, error) {
	switch kind {
	case "PartialObjectMetadata":
		return &metav1.PartialObjectMetadata{}, nil
	case "PartialObjectMetadataList":
		return &metav1.PartialObjectMetadataList{}, nil
	}
	return packed.GoTypes().New(schema.FromAPIVersionAndKind(apiVersion, kind))
}

// eventReader returns what reads the events of a watch, one after the other.
func eventReader(contentType string, body io.Reader) func() (event, error) {
	switch {
	case strings.Contains(contentType, "cbor"):
		decoder := cbor.NewDecoder(body)
		return func() (event, error) {
			var frame cbor.RawMessage
			if err := decoder.Decode(&frame); err != nil {
				return event{}, err
			}
			v, err := decodeCBOR(frame)
			return event{v.Get("type").Text(), v.Get("object")}, err
		}
	case strings.HasPrefix(contentType, mediaProtobuf):
		reader := bufio.NewReader(body)
		return func() (event, error) { return readProtobufEvent(reader) }
	}
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

// readProtobufEvent reads a frame: its length, and an event whose object says what it is.
func readProtobufEvent(reader io.Reader) (event, error) {
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
