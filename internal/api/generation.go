package kinds

import (
	"fmt"
	"strconv"
	"strings"

	"github.com/cadastre/cadastre/document"
)

// Generation is how metadata.generation of a kind counts.
type Generation struct {
	// First is what objects are created with; 0 leaves what was sent.
	First int64
	// Counted are the fields whose changes count.
	Counted [][]string
}

// NextGeneration returns the generation of an object that is written at an endpoint, 0 for none.
// Nobody can set it on update. The live object, which is absent on create, and the object are at
// the version that is stored, and wiped already.
func (k *Kind) NextGeneration(endpoint string, obj, live document.Value) int64 {
	if k.Custom {
		return nextCustomGeneration(endpoint, obj, live)
	}
	sent, _ := obj.Lookup("metadata", "generation").Int64()
	if live.IsAbsent() {
		if first := k.Generation.First; first != 0 {
			return first
		}
		return sent
	}
	now, _ := live.Lookup("metadata", "generation").Int64()
	if endpoint == "status" {
		return now // what counts is wiped there, save annotations
	}
	for _, path := range k.Generation.Counted {
		if !means(obj.Lookup(path...), live.Lookup(path...)) {
			return now + 1
		}
	}
	return now
}

// withNextGeneration returns an object with its next generation.
func (k *Kind) withNextGeneration(endpoint string, obj, live document.Value) document.Value {
	next, sent := k.NextGeneration(endpoint, obj, live), obj.Lookup("metadata", "generation")
	switch n, ok := sent.Int64(); {
	case next == 0 && sent.IsAbsent(), next != 0 && ok && n == next:
		return obj
	case next == 0:
		return put(obj, document.Value{}, "metadata", "generation")
	}
	return put(obj, document.NewInt(next), "metadata", "generation")
}

// means reports whether two values mean the same to a kind: those that are absent, null or empty
// do.
func means(a, b document.Value) bool {
	return document.Equal(a, b) || isNothing(a) && isNothing(b) || meansInside(a, b)
}

// meansInside compares the parts of lists and maps. There {} is not nothing: an empty struct often
// chooses something by being there.
func meansInside(a, b document.Value) bool {
	switch {
	case a.Kind() != b.Kind():
		return isNothing(a) && isNothing(b) && a.Kind() != document.Map && b.Kind() != document.Map
	case a.Kind() == document.List:
		return a.Len() == b.Len() && allItems(a, b)
	case a.Kind() == document.Map:
		return allFields(a, b) && allFields(b, a)
	}
	return document.Equal(a, b)
}

func allItems(a, b document.Value) bool {
	for i, item := range a.Items() {
		if !meansInside(item, b.At(i)) {
			return false
		}
	}
	return true
}

func allFields(a, b document.Value) bool {
	for name, value := range a.Fields() {
		if other := b.Get(name); !document.Same(value, other) && !meansInside(value, other) {
			return false
		}
	}
	return true
}

func isNothing(v document.Value) bool {
	return v.IsAbsent() || v.IsNull() || !v.IsScalar() && v.Len() == 0
}

// parseGeneration reads FIRST+PATH+PATH….
func parseGeneration(text string) (g Generation, err error) {
	first, counted, some := strings.Cut(text, "+")
	if g.First, err = strconv.ParseInt(first, 10, 64); err != nil {
		return g, fmt.Errorf("expected FIRST+PATH…, received %q", text)
	}
	if !some {
		return g, nil
	}
	for path := range strings.SplitSeq(counted, "+") {
		g.Counted = append(g.Counted, strings.Split(path, "."))
	}
	return g, nil
}
