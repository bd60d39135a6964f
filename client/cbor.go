package client

import (
	"bytes"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
)

// cborPrefix says that what follows is CBOR.
var cborPrefix = []byte{0xd9, 0xd9, 0xf7}

// stripCBOR takes managedFields out of CBOR. Servers that speak CBOR and do not understand what a client can do
// without are rare, so that it is read and written again.
func stripCBOR(answer []byte) ([]byte, error) {
	if !bytes.Contains(answer, []byte(inManaged)) {
		return answer, nil
	}
	return strippedCBOR(answer, stripAnswer)
}

// stripCBOREvent does it for an event of a watch.
func stripCBOREvent(event []byte) ([]byte, error) {
	if !bytes.Contains(event, []byte(inManaged)) {
		return event, nil
	}
	return strippedCBOR(event, func(v any) { stripAnswer(mapOf(v)[inObject]) })
}

func strippedCBOR(answer []byte, strip func(any)) ([]byte, error) {
	var read any
	if err := direct.Unmarshal(answer, &read); err != nil {
		return nil, err
	}
	strip(read)
	short, err := direct.Marshal(read)
	return append(bytes.Clone(cborPrefix), short...), err
}

// stripAnswer takes managedFields out of an object, a list of objects or a table.
func stripAnswer(v any) {
	switch answer := mapOf(v); shapeOf(answer) {
	case isList:
		stripObject(v) // it may be an object that nobody has named
		for _, item := range listOf(answer[inItems]) {
			stripObject(item)
		}
	case isTable:
		for _, row := range listOf(answer[inRows]) {
			stripObject(mapOf(row)[inObject])
		}
	default:
		stripObject(v)
	}
}

func shapeOf(answer map[string]any) shape {
	metadata, hasMetadata := answer[inMetadata]
	_, hasName := mapOf(metadata)[inName]
	_, hasUID := mapOf(metadata)[inUID]
	found := signs{hasMetadata: hasMetadata, hasName: hasName || hasUID}
	for _, name := range []string{inKind, inAPIVersion} {
		text, _ := answer[name].(string)
		found.note(name, text)
	}
	return found.shape()
}

// stripObject takes managedFields out of a value that may be an object of Kubernetes.
func stripObject(v any) { delete(mapOf(mapOf(v)[inMetadata]), inManaged) }

// mapOf and listOf return nothing of what is something else.
func mapOf(v any) map[string]any {
	m, _ := v.(map[string]any)
	return m
}

func listOf(v any) []any {
	l, _ := v.([]any)
	return l
}
