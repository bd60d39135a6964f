package catalog

import (
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/packed"
)

// aggregatedForms are the media types of all about the API at once, and discoveryForms those of the documents that tell
// it bit by bit. Kubernetes has CBOR only of the latter.
var (
	aggregatedForms = []string{mediaJSON, mediaYAML, mediaProto}
	discoveryForms  = []string{mediaJSON, mediaYAML, mediaProto, mediaCBOR}
)

// protoObject is an object that can be written as protobuf. All of Kubernetes' can.
type protoObject interface {
	runtime.Object
	Marshal() ([]byte, error)
}

// protoMagic is what every object of Kubernetes in protobuf begins with.
const protoMagic = "k8s\x00"

// encode writes an object in a media type of discoveryForms.
func encode(w io.Writer, object protoObject, mediaType string) error {
	switch mediaType {
	case mediaProto:
		return encodeProto(w, object)
	case mediaJSON:
		return encodeJSON(w, object)
	case mediaCBOR:
		return encodeCBOR(w, object)
	}
	text, err := yaml.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode %T: %w", object, err)
	}
	_, err = w.Write(text)
	return err
}

// encodeProto writes an object in the envelope that says which kind it is of.
func encodeProto(w io.Writer, object protoObject) error {
	raw, err := object.Marshal()
	if err != nil {
		return fmt.Errorf("encode %T: %w", object, err)
	}
	gvk := object.GetObjectKind().GroupVersionKind()
	envelope := &runtime.Unknown{Raw: raw}
	envelope.APIVersion, envelope.Kind = gvk.GroupVersion().String(), gvk.Kind
	text, err := envelope.Marshal()
	if err != nil {
		return fmt.Errorf("encode %T: %w", object, err)
	}
	_, err = w.Write(append([]byte(protoMagic), text...))
	return err
}

// encodeCBOR writes what JSON has of an object: documents about the API have no bytes, which CBOR writes otherwise.
func encodeCBOR(w io.Writer, object protoObject) error {
	text, err := json.Marshal(object)
	if err != nil {
		return fmt.Errorf("encode %T: %w", object, err)
	}
	v, err := document.ParseJSONLimited(text, document.Limits{MaxBytes: -1})
	if err != nil {
		return fmt.Errorf("encode %T: %w", object, err)
	}
	_, err = w.Write(packed.AppendCBOR([]byte(packed.CBORPrefix), nil, v))
	return err
}

// encodeJSON writes a value as JSON with a line break after it, as servers of Kubernetes do.
func encodeJSON(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %T: %w", value, err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
