package client

import (
	"bytes"
	"io"

	"github.com/fxamacker/cbor/v2"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// cborEncoding removes managedFields from responses in CBOR.
var cborEncoding = &encoding{mediaType: "application/cbor", streamType: "application/cbor-seq", strip: stripCBOR, frames: cborFrames}

// cborPrefix is the self-described CBOR tag, with which Kubernetes' CBOR encoding of an object starts.
var cborPrefix = []byte{0xd9, 0xd9, 0xf7}

// stripCBOR removes managedFields from a response in CBOR. It decodes and encodes the response, which is slow; this is
// acceptable because few servers support CBOR but not the parameter drop.
func stripCBOR(body []byte) ([]byte, error) {
	if !bytes.Contains(body, []byte(managedFieldsField)) {
		return body, nil
	}
	return recodeCBOR(body, stripValue)
}

// cborFrames returns a function that reads the next watch event from a sequence of CBOR data items and removes
// managedFields.
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

// stripCBOREvent removes managedFields from a watch event in CBOR.
func stripCBOREvent(event []byte) ([]byte, error) {
	if !bytes.Contains(event, []byte(managedFieldsField)) {
		return event, nil
	}
	return recodeCBOR(event, func(v any) { stripValue(mapOf(v)[objectField]) })
}

// recodeCBOR decodes CBOR, calls strip with the decoded value, and encodes the value again.
func recodeCBOR(body []byte, strip func(any)) ([]byte, error) {
	var read any
	if err := direct.Unmarshal(body, &read); err != nil {
		return nil, err
	}
	strip(read)
	short, err := direct.Marshal(read)
	return append(bytes.Clone(cborPrefix), short...), err
}

// stripValue removes managedFields from the decoded value of an object, a list or a Table.
func stripValue(v any) {
	switch body := mapOf(v); shapeOf(body) {
	case listShape:
		stripObject(v) // objects without name and uid have listShape, too
		for _, item := range listOf(body[itemsField]) {
			stripObject(item)
		}
	case tableShape:
		for _, row := range listOf(body[rowsField]) {
			stripObject(mapOf(row)[objectField])
		}
	default:
		stripObject(v)
	}
}

// shapeOf returns the shape of a decoded response.
func shapeOf(body map[string]any) shape {
	metadata, hasMetadata := body[metadataField]
	_, hasName := mapOf(metadata)[nameField]
	_, hasUID := mapOf(metadata)[uidField]
	found := shapeTraits{hasMetadata: hasMetadata, hasName: hasName || hasUID}
	for _, name := range []string{kindField, apiVersionField} {
		text, _ := body[name].(string)
		found.set(name, text)
	}
	return found.shape()
}

// stripObject removes managedFields from a value if it is an API object.
func stripObject(v any) { delete(mapOf(mapOf(v)[metadataField]), managedFieldsField) }

// mapOf returns a value as a map, nil if it is of another type.
func mapOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

// listOf returns a value as a list, nil if it is of another type.
func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}
