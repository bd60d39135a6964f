package codec

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"sync"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/runtime/serializer/cbor/direct"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// protobufReader reads the built-in kinds, which is all that can be sent so.
var protobufReader = sync.OnceValue(func() *protobuf.Serializer { return protobuf.NewSerializer(packed.GoTypes(), packed.GoTypes()) })

// ReadProtobuf returns an object as JSON that was sent as protobuf. A body that does not say what it is is of the expected kind.
func ReadProtobuf(body []byte, expected schema.GroupVersionKind) ([]byte, error) {
	if err := checkWeight(body, expected); err != nil {
		return nil, fmt.Errorf("the body can't be read as %s: %w", Protobuf, err)
	}
	object, gvk, err := protobufReader().Decode(body, &expected, nil)
	if err != nil {
		return nil, fmt.Errorf("the body can't be read as %s: %w", Protobuf, err)
	}
	object.GetObjectKind().SetGroupVersionKind(*gvk)
	text, err := json.Marshal(object)
	if err == nil && hasReplaced(text) {
		err = fmt.Errorf("the body can't be read as %s: %w", Protobuf, notUTF8(object))
	}
	return bytes.TrimSpace(text), err
}

// hasReplaced reports whether bytes that are not UTF-8 have become something else when JSON was made. Only these are written with
// the escape: the character itself is not, and a backslash that a text has is one of two.
func hasReplaced(text []byte) bool {
	for {
		_, after, found := bytes.Cut(text, []byte(`\ufffd`))
		if !found {
			return false
		}
		before := text[:len(text)-len(after)-len(`\ufffd`)]
		if backslashes := len(before) - len(bytes.TrimRight(before, `\`)); backslashes%2 == 0 {
			return true
		}
		text = after
	}
}

// notUTF8 is the error of an object some text of which is not UTF-8. It says which, if the object's Go types show it.
func notUTF8(object runtime.Object) error {
	content, err := runtime.DefaultUnstructuredConverter.ToUnstructured(object)
	if err == nil {
		_, err = document.FromGo(content)
	}
	if err == nil {
		err = errors.New("expected text in UTF-8, received other bytes")
	}
	return err
}

// checkWeight refuses a body that would take too much memory. What is wrong with its envelope the reader tells.
func checkWeight(body []byte, expected schema.GroupVersionKind) error {
	content, ok := packed.CutEnvelopePrefix(body)
	envelope := runtime.Unknown{}
	if !ok || envelope.Unmarshal(content) != nil {
		return nil
	}
	is := packed.Type{APIVersion: envelope.APIVersion, Kind: envelope.Kind}
	if is.Kind == "" {
		is.Kind = expected.Kind
	}
	if is.APIVersion == "" {
		is.APIVersion = expected.GroupVersion().String()
	}
	return packed.CheckWeight(is, envelope.Raw)
}

// ReadCBOR returns an object as JSON that was sent as CBOR.
func ReadCBOR(body []byte) ([]byte, error) {
	if size := leastJSON(body); size > document.DefaultMaxBytes {
		return nil, fmt.Errorf("the body can't be read as %s: it has at least %d bytes as JSON, more than the limit of %d; split it", CBOR, size, document.DefaultMaxBytes)
	}
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
