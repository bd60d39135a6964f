package client

import (
	"bytes"
	"io"

	"github.com/fxamacker/cbor/v2"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

var cborEncoding = &encoding{mediaType: "application/cbor", streamType: "application/cbor-seq", strip: stripCBOR, frames: cborFrames}

// cborPrefix is the self-described CBOR tag.
var cborPrefix = []byte{0xd9, 0xd9, 0xf7}

// stripCBOR removes managedFields from CBOR. Servers that support CBOR but not the parameter drop are rare, so the
// response is decoded and encoded again.
func stripCBOR(body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(inManagedFields)) {
		return body, nil
	}
	return recodeCBOR(body, stripResponse)
}

// cborFrames reads a sequence of CBOR data items.
func cborFrames(body io.Reader) func() ([]byte, error) {
	decoder := cbor.NewDecoder(body)
	return func() ([]byte, error) {
		var frame cbor.RawMessage
		if err := decoder.Decode(&frame); err != nil {
			return nil, err
		}
		return stripCBOREvent(frame)
	}
}

// stripCBOREvent removes managedFields from a watch event.
func stripCBOREvent(event []byte) ([]byte, error) {
	if !bytes.Contains(event, []byte(inManagedFields)) {
		return event, nil
	}
	return recodeCBOR(event, func(v any) { stripResponse(mapOf(v)[inObject]) })
}

func recodeCBOR(body []byte, strip func(any)) ([]byte, error) {
	var read any
	if err := direct.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	strip(read)
	short, err := direct.Marshal(read)
	return append(bytes.Clone(cborPrefix), short...), err
}

// stripResponse removes managedFields from an object, a list or a Table.
func stripResponse(v any) {
	switch body := mapOf(v); shapeOf(body) {
	case isList:
		stripObject(v) // it may be an object without name and uid
		for _, item := range listOf(body[inItems]) {
			stripObject(item)
		}
	case isTable:
		for _, row := range listOf(body[inRows]) {
			stripObject(mapOf(row)[inObject])
		}
	default:
		stripObject(v)
	}
}

func shapeOf(body map[string]any) shape {
	metadata, hasMetadata := body[inMetadata]
	_, hasName := mapOf(metadata)[inName]
	_, hasUID := mapOf(metadata)[inUID]
	found := shapeTraits{hasMetadata: hasMetadata, hasName: hasName || hasUID}
	for _, name := range []string{inKind, inAPIVersion} {
		text, _ := body[name].(string)
		found.note(name, text)
	}
	return found.shape()
}

// stripObject removes managedFields from a value that may be an API object.
func stripObject(v any) { delete(mapOf(mapOf(v)[inMetadata]), inManagedFields) }

// mapOf and listOf return nil for values of other types.
func mapOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}
