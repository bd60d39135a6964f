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

func ExampleCommon() {
	changed := fieldset.New(fieldset.Names("spec", "image"), fieldset.Names("spec", "paused"))
	common, ok := fastset.Common(`{"f:spec":{"f:image":{},"f:replicas":{}}}`, changed)
	fmt.Println(common.FieldsV1(), ok)
	// Output: {"f:spec":{"f:image":{}}} true
}

func ExampleLacking() {
	lacking, ok := fastset.Lacking(`{"f:spec":{"f:image":{},"f:replicas":{}}}`, `{"f:spec":{"f:image":{}}}`)
	fmt.Println(lacking.FieldsV1(), ok)
	// Output: {"f:spec":{"f:replicas":{}}} true
}

func ExampleArena_Along() {
	var arena fastset.Arena
	along, ok := arena.Along(`{"f:metadata":{"f:labels":{}},"f:spec":{"f:image":{}}}`, fieldset.New(fieldset.Names("spec", "image")))
	fmt.Println(along.FieldsV1(), ok)
	arena.Reset()
	// Output: {"f:spec":{"f:image":{}}} true
}
