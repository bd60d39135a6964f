package applyruntime

import (
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"unicode/utf8"
)

// ErrNoManagedFields reports that an object has no managedFields: it was read without them, or they were cleared.
// Applying a configuration that was extracted from it would release all fields of the manager.
var ErrNoManagedFields = errors.New("expected an object with managedFields, received none; read the object without removing them")

// Unstructured is implemented by the unstructured objects of k8s.io/apimachinery.
type Unstructured interface{ UnstructuredContent() map[string]any }

// Extract sets config, a pointer to a generated struct, to the fields of an object that a field manager owns through its
// Apply entry for the subresource ("" for the object itself). Fields that the manager owns and that the object does not
// have become marks, so that applying the configuration again changes nothing. If the manager has no such entry,
// config is not changed.
//
// The object is a Go type that marshals to JSON, an [Unstructured], or a map[string]any. apiVersion is that of config.
// Extract returns [ErrNoManagedFields] if the object has no managedFields, and an [*Error] if the entry is at another
// version. A zero that the Go type of the object omits counts as absent.
func Extract(object, config any, apiVersion, manager, subresource string) error {
	tree, err := decodeObject(object)
	if err != nil {
		return err
	}
	entry, err := findEntry(tree, manager, subresource)
	if err != nil || entry == nil {
		return err
	}
	if entry.APIVersion != apiVersion {
		return &Error{
			Path: "metadata.managedFields", Expected: fmt.Sprintf("an entry of manager %q at %s", manager, apiVersion),
			Received: fmt.Sprintf("one at %s; read the object at that version", entry.APIVersion),
		}
	}
	set, err := decode(entry.FieldsV1)
	if err != nil {
		return fmt.Errorf("metadata.managedFields: manager %q: %w", manager, err)
	}
	fields, ok := set.(map[string]any)
	if !ok {
		return &Error{"metadata.managedFields", "fieldsV1 that is an object", string(entry.FieldsV1)}
	}
	owned := extractor{}.fields(infoOf(reflect.TypeOf(config).Elem()), tree, fields)
	return assign(owned, config)
}

// decodeObject returns the decoded JSON of an object.
func decodeObject(object any) (map[string]any, error) {
	if u, ok := object.(Unstructured); ok {
		object = u.UnstructuredContent()
	}
	text, err := json.Marshal(object)
	if err != nil {
		return nil, err
	}
	tree, err := decode(text)
	if err != nil {
		return nil, err
	}
	content, ok := tree.(map[string]any)
	if !ok {
		return nil, &Error{Expected: "an object", Received: string(text[:min(len(text), 40)])}
	}
	addStringData(content)
	return content, nil
}

// addStringData adds to a Secret the stringData that is decoded from its data. Servers move stringData to data, but
// managedFields still contains the paths in stringData. Objects of Go types have no kind, therefore a Secret is
// recognised by its type and data.
func addStringData(tree map[string]any) {
	data, ok := tree["data"].(map[string]any)
	_, hasType := tree["type"].(string)
	if kind, _ := tree["kind"].(string); !ok || kind != "Secret" && (kind != "" || !hasType) {
		return
	}
	texts := map[string]any{}
	for name, value := range data {
		encoded, _ := value.(string)
		if text, err := base64.StdEncoding.DecodeString(encoded); err == nil && utf8.Valid(text) {
			texts[name] = string(text)
		}
	}
	tree["stringData"] = texts
}

// entry is a managed fields entry.
type entry struct {
	Manager, Operation, APIVersion, Subresource string
	FieldsV1                                    json.RawMessage
}

// findEntry returns the Apply entry of a manager, nil if it has none.
func findEntry(tree map[string]any, manager, subresource string) (*entry, error) {
	metadata, _ := tree["metadata"].(map[string]any)
	text, err := json.Marshal(metadata["managedFields"])
	if err != nil {
		return nil, err
	}
	var entries []entry
	if err := json.Unmarshal(text, &entries); err != nil {
		return nil, fmt.Errorf("metadata.managedFields: %w", err)
	}
	if len(entries) == 0 {
		return nil, ErrNoManagedFields
	}
	for i, e := range entries {
		if e.Manager == manager && e.Operation == "Apply" && e.Subresource == subresource {
			return &entries[i], nil
		}
	}
	return nil, nil
}
