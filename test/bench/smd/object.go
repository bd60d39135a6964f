package smd

import (
	"fmt"

	"github.com/goccy/go-json"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// An object is a decoded Kubernetes object, as apimachinery's unstructured objects hold it.
type object map[string]any

// decodeObject decodes with the decoder that apimachinery uses for unstructured objects.
func decodeObject(data []byte) (object, error) {
	var decoded map[string]any
	if err := utiljson.Unmarshal(data, &decoded); err != nil {
		return nil, err
	}
	if decoded == nil {
		return nil, fmt.Errorf("not an object")
	}
	return decoded, nil
}

// removeManagedFields takes metadata.managedFields out of the object.
func (o object) removeManagedFields() []any {
	metadata, _ := o["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	if entries != nil {
		delete(metadata, "managedFields")
	}
	return entries
}

// encode writes the object with its managedFields, keys sorted, as one line. Kubernetes uses
// encoding/json; go-json writes the same bytes in about half the time, so the peer gets it.
func encode(o object, managed *managed) ([]byte, error) {
	entries, err := managed.encode()
	if err != nil {
		return nil, err
	}
	if len(entries) > 0 {
		metadata, ok := o["metadata"].(map[string]any)
		if !ok {
			metadata = map[string]any{}
			o["metadata"] = metadata
		}
		metadata["managedFields"] = entries
	}
	return json.Marshal(map[string]any(o))
}
