package api

import (
	"github.com/cadastre/cadastre/document"
)

// Generation describes how metadata.generation of a kind is set.
type Generation struct {
	// First is the generation of a new object; 0 means that a new object has the generation that the request contains.
	First int64
	// Counted are the paths of the fields whose changes increment the generation. Changes of metadata are counted only at the main
	// endpoint.
	Counted [][]string
}

// NextGeneration returns the metadata.generation of obj, which is written at endpoint; 0 means that the object has no
// generation. It ignores the generation in an update request. Both obj and live, which is absent on create, are at the storage
// version, with reset fields restored. version is the version of the request.
func (k *Kind) NextGeneration(endpoint, version string, obj, live document.Value) int64 {
	if k.Custom {
		return k.nextCustomGeneration(version, obj, live)
	}
	sent, _ := obj.Lookup("metadata", "generation").Int64()
	if live.IsAbsent() {
		if first := k.Generation.First; first != 0 {
			return first
		}
		return sent
	}
	generation, _ := live.Lookup("metadata", "generation").Int64()
	for _, path := range k.Generation.Counted {
		isCounted := endpoint == "" || path[0] != "metadata"
		if isCounted && !semanticEqual(obj.Lookup(path...), live.Lookup(path...)) {
			return generation + 1
		}
	}
	return generation
}

// setNextGeneration returns obj with metadata.generation set to the result of NextGeneration, or removed if that result is 0.
func (k *Kind) setNextGeneration(endpoint, version string, obj, live document.Value) document.Value {
	next, sent := k.NextGeneration(endpoint, version, obj, live), obj.Lookup("metadata", "generation")
	switch n, ok := sent.Int64(); {
	case next == 0 && sent.IsAbsent(), next != 0 && ok && n == next:
		return obj
	case next == 0:
		return put(obj, document.Value{}, "metadata", "generation")
	}
	return put(obj, document.NewInt(next), "metadata", "generation")
}

// semanticEqual reports whether a and b are semantically equal, like apimachinery's equality.Semantic: an absent value, null,
// and an empty list or map are equal.
func semanticEqual(a, b document.Value) bool {
	return document.Equal(a, b) || isEmpty(a) && isEmpty(b) || equalNested(a, b)
}

// equalNested reports whether two values inside a list or map are semantically equal. Unlike at the top level, {} differs from
// an absent field inside a list or map, because an empty struct often selects a member of a union, such as emptyDir: {}.
func equalNested(a, b document.Value) bool {
	switch {
	case a.Kind() != b.Kind():
		return isEmpty(a) && isEmpty(b) && a.Kind() != document.Map && b.Kind() != document.Map
	case a.Kind() == document.List:
		return a.Len() == b.Len() && equalItems(a, b)
	case a.Kind() == document.Map:
		return includesFields(a, b) && includesFields(b, a)
	}
	return document.Equal(a, b)
}

func equalItems(a, b document.Value) bool {
	for i, item := range a.Items() {
		if !equalNested(item, b.At(i)) {
			return false
		}
	}
	return true
}

func includesFields(a, b document.Value) bool {
	for name, value := range a.Fields() {
		if other := b.Get(name); !document.Same(value, other) && !equalNested(value, other) {
			return false
		}
	}
	return true
}

func isEmpty(v document.Value) bool {
	return v.IsAbsent() || v.IsNull() || !v.IsScalar() && v.Len() == 0
}
