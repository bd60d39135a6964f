package apply

import (
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// shape says how a value is taken apart.
type shape uint8

const (
	leaf    shape = iota // not at all: it is a scalar, or atomic
	byField              // it is a granular map, or null in the place of one
	byItem               // it is a granular list, or null in the place of one
)

// shapeOf returns how a value is taken apart where a topology may be missing: what is
// not declared is untyped.
func shapeOf(t *schema.Type, v document.Value) shape {
	if t == nil {
		t = schema.Untyped
	}
	switch t.Resolve(v.Kind()) {
	case schema.MapAlternative:
		if !t.Map.Atomic {
			return byField
		}
	case schema.ListAlternative:
		if t.List.Relationship != schema.Atomic {
			return byItem
		}
	}
	return leaf
}

// fieldType returns the topology of a field, declared or not, of a value that is taken
// apart by field, and whether it is declared.
func fieldType(t *schema.Type, name string) (field *schema.Type, declared bool) {
	if t == nil {
		return schema.Untyped, false
	}
	if field, declared = t.Map.TypeOf(name); field == nil {
		field = schema.Untyped
	}
	return field, declared
}

// isRecorded reports whether a declared field with this value is owned for itself: it
// is a leaf, or there is nothing inside that could be owned instead.
func isRecorded(t *schema.Type, v document.Value) bool {
	return v.IsNull() || isEmptyMap(v) || shapeOf(t, v) == leaf
}

func isEmptyMap(v document.Value) bool { return v.Kind() == document.Map && v.Len() == 0 }
