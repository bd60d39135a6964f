package fieldset_test

import (
	"fmt"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
)

// The difference of the owned and the applied paths is the set of fields that a field manager no longer applies.
func Example() {
	owned, err := fieldset.ParseFieldsV1(`{"f:spec":{"f:image":{},"f:replicas":{}}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	applied := fieldset.New(fieldset.Names("spec", "image"))
	fmt.Print(owned.Difference(applied))
	// Output: .spec.replicas
}

func ExampleNew() {
	s := fieldset.New(
		fieldset.Names("spec", "replicas"),
		fieldset.Names("metadata", "labels", "app"),
	)
	fmt.Print(s)
	fmt.Println(s.FieldsV1())
	// Output:
	// .metadata.labels.app
	// .spec.replicas
	// {"f:metadata":{"f:labels":{"f:app":{}}},"f:spec":{"f:replicas":{}}}
}

func ExampleParseFieldsV1() {
	s, err := fieldset.ParseFieldsV1(`{"f:spec":{"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{}}}}}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(s)

	_, err = fieldset.ParseFieldsV1(`{"f:spec":{"i:first":{}}}`)
	fmt.Println(err)
	// Output:
	// .spec.containers[name="app"]
	// .spec.containers[name="app"].image
	// field set: at byte 12: expected an index after i:, received "first"
}

func ExampleParsePath() {
	p, err := fieldset.ParsePath(`.metadata.labels."example.com/tier"`)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(len(p), p[2].Name())

	_, err = fieldset.ParsePath(".spec.ports[port=http]")
	fmt.Println(err)
	// Output:
	// 3 example.com/tier
	// path ".spec.ports[port=http]": at byte 17: expected a string in quotes, or JSON such as 1, true or null, received "http]"
}

func ExampleKeyElement() {
	port := fieldset.KeyElement(
		fieldset.KeyField{Name: "protocol", Value: document.NewString("TCP")},
		fieldset.KeyField{Name: "containerPort", Value: document.NewInt(8080)},
	)
	fmt.Println(append(fieldset.Names("ports"), port))
	// Output: .ports[containerPort=8080,protocol="TCP"]
}

// The difference of the owned and the applied paths is the set of fields that the field manager releases.
func ExampleSet_Difference() {
	owned := fieldset.New(fieldset.Names("spec", "image"), fieldset.Names("spec", "replicas"))
	sent := fieldset.New(fieldset.Names("spec", "image"), fieldset.Names("spec", "paused"))
	fmt.Print("released:\n", owned.Difference(sent))
	fmt.Print("kept:\n", owned.Intersection(sent))
	fmt.Print("owned or applied:\n", owned.Union(sent))
	// Output:
	// released:
	// .spec.replicas
	// kept:
	// .spec.image
	// owned or applied:
	// .spec.image
	// .spec.paused
	// .spec.replicas
}

// Unlike Difference, RecursiveDifference also removes the paths below a removed path.
func ExampleSet_RecursiveDifference() {
	owned := fieldset.New(fieldset.Names("status"), fieldset.Names("status", "phase"), fieldset.Names("spec"))
	reset := fieldset.New(fieldset.Names("status"))
	fmt.Print("difference:\n", owned.Difference(reset))
	fmt.Print("recursive:\n", owned.RecursiveDifference(reset))
	fmt.Print("covered:\n", owned.Covered(reset))
	// Output:
	// difference:
	// .spec
	// .status.phase
	// recursive:
	// .spec
	// covered:
	// .status
	// .status.phase
}

func ExampleParseElement() {
	e, err := fieldset.ParseElement(`k:{"name":"app"}`)
	fmt.Println(e, e.Kind() == fieldset.Key, err)
	// Output: [name="app"] true <nil>
}

func ExampleValueElement() {
	fmt.Println(fieldset.ValueElement(document.NewString("x")), fieldset.ValueElement(document.NewInt(1)))
	// Output: [="x"] [=1]
}

func ExampleIndexElement() {
	fmt.Println(fieldset.Path{fieldset.NameElement("list"), fieldset.IndexElement(2)})
	// Output: .list[2]
}
