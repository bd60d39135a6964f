// Package applyruntime is the part of generated apply configurations that is the same for all of them. It depends on
// nothing but the standard library.
//
// cmd/applyconfig-gen generates structs with a field UnsetMarks of type [*Marks], builders, and these methods:
//
//	func (b ShopApplyConfiguration) MarshalJSON() ([]byte, error)     { return applyruntime.Marshal(&b) }
//	func (b *ShopApplyConfiguration) UnmarshalJSON(data []byte) error { return applyruntime.Unmarshal(data, b) }
//
// # Unset markers
//
// A mark declares that a field, a map entry or a list item must be absent (KEP-5051). Marshal writes it as
// {"k8s_io__value": "unset"}, an item with its keys. A mark applies while its field has no value: a value that is set
// later takes precedence. Marshal returns an [*Error] with the path of a mark that no server accepts: one inside of an
// atomic list, map or struct, and an item without its keys. Kubernetes' CBOR encoder transcodes the result of
// MarshalJSON, so that both encodings of an apply request carry marks.
//
// # Topology
//
// The tag merge of a field states its list or map type, so that marks and [Extract] need no schema:
//
//	merge:"atomic"                              an atomic list, map or struct
//	merge:"set"                                 a set of scalars
//	merge:"map,containerPort,protocol=TCP"      a list of type map with its keys, and their defaults
//
// Lists without the tag are atomic, maps and structs without it are granular.
//
// # Guarantees
//
// Stability: the exported API follows semantic versioning. Functions are safe for concurrent use on different values.
package applyruntime

// Files:
//
//	marks.go      Marks
//	topology.go   the fields of a generated struct, from its tags
//	marshal.go    Marshal
//	unmarshal.go  Unmarshal
//	extract.go    Extract; fieldset.go, the part of an object in a field set
//	intorstring.go    IntOrString
