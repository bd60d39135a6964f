package catalog

import (
	"encoding/json"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/yaml"
)

// discoveryForms are the media types of documents about the API.
var discoveryForms = []string{mediaJSON, mediaYAML, mediaProto}

// protoObject is an object that can be written as protobuf. All of Kubernetes' can.
type protoObject interface {
	runtime.Object
	Marshal() ([]byte, error)
}

// protoMagic is what every object of Kubernetes in protobuf begins with.
const protoMagic = "k8s\x00"

// encode writes an object in a media type of discoveryForms.
func encode(w io.Writer, object protoObject, mediaType string) error {
	if mediaType == mediaProto {
		return encodeProto(w, object)
	}
	if mediaType == mediaJSON {
		return encodeJSON(w, object)
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

// encodeJSON writes a value as JSON with a line break after it, as servers of Kubernetes do.
func encodeJSON(w io.Writer, value any) error {
	text, err := json.Marshal(value)
	if err != nil {
		return fmt.Errorf("encode %T: %w", value, err)
	}
	_, err = w.Write(append(text, '\n'))
	return err
}
