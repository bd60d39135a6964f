package smd

import (
	"fmt"

	"github.com/goccy/go-json"
	utiljson "k8s.io/apimachinery/pkg/util/json"
)

// object is an object that is decoded like apimachinery's unstructured objects.
type object map[string]any

// decodeObject decodes an object with apimachinery's decoder for unstructured objects.
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

// removeManagedFields removes metadata.managedFields from the object and returns it; nil if it is not set.
func (o object) removeManagedFields() []any {
	metadata, _ := o["metadata"].(map[string]any)
	entries, _ := metadata["managedFields"].([]any)
	if entries != nil {
		delete(metadata, "managedFields")
	}
	return entries
}

// encode returns the JSON of the object with its managedFields, with sorted keys and a final newline. Kubernetes uses
// encoding/json; go-json returns the same bytes in about half the time, which favours structured-merge-diff.
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
