// Package smd is the peer: Server-Side Apply from bytes to bytes, done by structured-merge-diff the way
// kube-apiserver drives it.
//
// It does what kube-apiserver's field managers do, in their order, and nothing else: decode the object,
// split off managedFields, decode each entry to a set, validate against the schema, apply or update,
// strip the metadata paths, set the time, encode the sets, sort the entries, write the object. It leaves
// out what an engine is not asked to do (admission, defaulting, version conversion, storage), and where
// Kubernetes copies, converts or decodes twice it takes the shorter way, so that the comparison favours
// the peer. A test compares its answers with those of apimachinery's own field manager.
package smd
