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
	var read any
	if err := direct.Unmarshal(answer, &read); err != nil {
		return nil, err
	}
	stripObject(read)
	short, err := direct.Marshal(read)
	return append(bytes.Clone(cborPrefix), short...), err
}

// stripObject takes managedFields out of a value that may be an object of Kubernetes, or has some in it.
func stripObject(v any) {
	o, _ := v.(map[string]any)
	if metadata, ok := o[inMetadata].(map[string]any); ok {
		delete(metadata, inManaged)
	}
	if inner, ok := o[inObject]; ok {
		stripObject(inner)
	}
	for _, name := range []string{inItems, inRows} {
		items, _ := o[name].([]any)
		for _, item := range items {
			stripObject(item)
		}
	}
}
