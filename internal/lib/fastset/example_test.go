package fastset_test

import (
	"fmt"

	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/internal/lib/fastset"
)

func ExampleBuilder() {
	var b fastset.Builder
	spec := b.Mark()
	inside := b.Mark()
	b.Push(fieldset.NameElement("image"), true, fieldset.Set{})
	b.Push(fieldset.NameElement("spec"), false, b.Set(inside))
	fmt.Println(b.Set(spec).FieldsV1())
	// Output: {"f:spec":{"f:image":{}}}
}

func ExampleIntersection() {
	changed := fieldset.New(fieldset.Names("spec", "image"), fieldset.Names("spec", "paused"))
	intersection, ok := fastset.Intersection(`{"f:spec":{"f:image":{},"f:replicas":{}}}`, changed)
	fmt.Println(intersection.FieldsV1(), ok)
	// Output: {"f:spec":{"f:image":{}}} true
}

func ExampleDifference() {
	difference, ok := fastset.Difference(`{"f:spec":{"f:image":{},"f:replicas":{}}}`, `{"f:spec":{"f:image":{}}}`)
	fmt.Println(difference.FieldsV1(), ok)
	// Output: {"f:spec":{"f:replicas":{}}} true
}

func ExampleArena_Project() {
	var arena fastset.Arena
	projection, ok := arena.Project(`{"f:metadata":{"f:labels":{}},"f:spec":{"f:image":{}}}`, fieldset.New(fieldset.Names("spec", "image")))
	fmt.Println(projection.FieldsV1(), ok)
	arena.Reset()
	// Output: {"f:spec":{"f:image":{}}} true
}
