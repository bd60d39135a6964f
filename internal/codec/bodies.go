package codec

import (
	"bytes"
	"encoding/json"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// protobufReader reads the built-in kinds, which is all that can be sent so.
var protobufReader = sync.OnceValue(func() *protobuf.Serializer { return protobuf.NewSerializer(packed.GoTypes(), packed.GoTypes()) })

// ReadProtobuf returns an object as JSON that was sent as protobuf.
func ReadProtobuf(body []byte) ([]byte, error) {
	object, gvk, err := protobufReader().Decode(body, nil, nil)
	if err != nil {
		return nil, fmt.Errorf("the body can't be read as %s: %w", Protobuf, err)
	}
	object.GetObjectKind().SetGroupVersionKind(*gvk)
	text, err := json.Marshal(object)
	return bytes.TrimSpace(text), err
}

// ReadCBOR returns an object as JSON that was sent as CBOR.
func ReadCBOR(body []byte) ([]byte, error) {
	var read any
	if err := direct.Unmarshal(body, &read); err != nil {
		return nil, fmt.Errorf("the body can't be read as %s: %w", CBOR, err)
	}
	v, err := document.FromGo(read)
	if err != nil {
		return nil, fmt.Errorf("the body can't be read as %s: %w", CBOR, err)
	}
	return v.AppendJSON(nil), nil
}
