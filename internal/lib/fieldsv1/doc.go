// Package fieldsv1 writes FieldsV1, the JSON encoding of field sets in managedFields, as text: the spelling of path
// elements, byte for byte as Kubernetes writes it, and whole sets element by element. Package fieldset has sets as
// values.
package fieldsv1
