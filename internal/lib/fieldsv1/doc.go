// Package fieldsv1 writes FieldsV1, the JSON encoding of field sets in managedFields: single path elements, byte for
// byte as Kubernetes writes them, and whole sets element by element. Package fieldset represents sets as values.
package fieldsv1
