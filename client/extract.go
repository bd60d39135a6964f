package client

import (
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
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
// For an object without managedFields the functions of client-go return a configuration without fields, and applying that
// would release all fields of the manager. Extract returns a [*NoManagedFieldsError] instead.
func Extract[O metav1.Object, C any](object O, manager string, extract func(O, string) (C, error)) (C, error) {
	if len(object.GetManagedFields()) == 0 {
		var none C
		return none, &NoManagedFieldsError{object.GetNamespace(), object.GetName()}
	}
	return extract(object, manager)
}
