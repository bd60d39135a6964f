// Package smd implements Server-Side Apply from bytes to bytes with structured-merge-diff, as kube-apiserver uses it.
// Cadastre's engine is compared with it.
//
// The engine performs the steps of kube-apiserver's field managers in their order: decode the object, remove
// managedFields, decode each entry to a set, validate against the schema, apply or update, remove the metadata paths
// that no field manager owns, set the time, encode the sets, sort the entries, encode the object. It omits admission,
// defaulting, version conversion and storage, and avoids the additional copies, conversions and decoding of Kubernetes,
// so the comparison favours structured-merge-diff. A test compares its results with those of apimachinery's field
// manager.
package smd
