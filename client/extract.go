package client

import (
	"encoding/json"
	"fmt"
	"reflect"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/cadastre/cadastre/apply"
)

// NoManagedFieldsError is returned by [Extract] for an object without managedFields. Namespace and Name identify the
// object.
type NoManagedFieldsError struct{ Namespace, Name string }

func (e *NoManagedFieldsError) Error() string {
	name := e.Name
	if e.Namespace != "" {
		name = e.Namespace + "/" + name
	}
	return fmt.Sprintf("client: %s: expected managedFields, received an object without them; if it was read with %s=%s, read it with a client that requests managedFields",
		name, dropParameter, managedFieldsPath)
}

// Extract extracts the apply configuration of a field manager from an object with one of client-go's extract functions:
//
//	config, err := client.Extract(deployment, "me", appsv1.ExtractDeployment)
//
// For an object without managedFields the functions of client-go return a configuration without fields; applying it would
// release all fields of the manager. Extract returns a [*NoManagedFieldsError] instead.
//
// The functions of client-go omit fields whose absence the manager owns because it has applied unset markers. Extract adds the
// markers if the type of the configuration can contain them, as unstructured configurations can, and otherwise returns an
// [*AbsentFieldsError]. It extracts an unset field that has a default like an applied field, with its value: managedFields do not
// distinguish the two, and applying either is a no-op. In an object of a Go type, an absent list, map, number or boolean cannot be
// distinguished from an empty list or map, 0 or false, unless the field is a pointer; Extract omits such a field, as client-go does.
// Extract from unstructured objects is exact.
func Extract[O metav1.Object, C any](object O, manager string, extract func(O, string) (C, error)) (C, error) {
	var none C
	if len(object.GetManagedFields()) == 0 {
		return none, &NoManagedFieldsError{object.GetNamespace(), object.GetName()}
	}
	config, err := extract(object, manager)
	if err != nil {
		return config, err
	}
	text, err := json.Marshal(object)
	if err != nil {
		return none, err
	}
	whole, err := apply.ReadObject(string(text))
	if err != nil {
		return none, err
	}
	entry, ok := extractedEntry(object, whole.Entries, manager, extract)
	if !ok {
		return config, nil
	}
	fields, err := entry.Fields()
	if err != nil {
		return none, err
	}
	absent := absentFields(whole.Document, fields, reflect.TypeOf(object))
	if len(absent) == 0 {
		return config, nil
	}
	if with, ok := withAbsent(config, absent); ok {
		return with, nil
	}
	unset := &AbsentFieldsError{Manager: manager, Namespace: object.GetNamespace(), Name: object.GetName()}
	for _, path := range absent {
		unset.Paths = append(unset.Paths, path.String())
	}
	return none, unset
}
