package apply_test

import (
	"fmt"
	"log"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// twoVersions is a kind whose field "size" was renamed to "replicas" in v2.
type twoVersions struct{}

func (twoVersions) Type(version string) (*schema.Type, bool) {
	return schema.Untyped, version == "v1" || version == "v2"
}

func (twoVersions) Convert(doc document.Value, _, to string) (document.Value, error) {
	if to == "v2" {
		return doc.With("replicas", doc.Get("size")).Without("size"), nil
	}
	return doc.With("size", doc.Get("replicas")).Without("replicas"), nil
}

// Managers may write at different versions; ownership is compared across versions.
func ExampleVersions() {
	engine, err := apply.New(apply.Options{Versions: twoVersions{}})
	if err != nil {
		log.Fatal(err)
	}
	result, err := engine.Apply(apply.Object{}, yaml(`size: 1`), apply.Request{Manager: "old", Version: "v1"})
	if err != nil {
		log.Fatal(err)
	}
	live := result.Object
	if live.Document, err = (twoVersions{}).Convert(live.Document, "v1", "v2"); err != nil {
		log.Fatal(err)
	}
	_, err = engine.Apply(live, yaml(`replicas: 2`), apply.Request{Manager: "new", Version: "v2"})
	fmt.Println(err)
	// Output:
	// apply conflicts with other managers on 1 field:
	// - .size: live value is number 1, applied value is number 2; owned by "old" (Apply with v1)
	// To leave a field to its owners, remove it from the configuration; to become a co-owner, apply the live value; to take it over, force.
}

// A map that was atomic has become granular: the owner of the map becomes the owner of its fields.
func ExampleReconcile() {
	object, err := apply.ReadObject(`{"colour":{"blue":1,"red":2},"metadata":{"managedFields":[` +
		`{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:colour":{}},"manager":"ci","operation":"Apply"}]}}`)
	if err != nil {
		log.Fatal(err)
	}
	kind := func(relationship string) *schema.Type {
		types, err := schema.LoadTypes(yaml(`
types:
- name: paint
  map:
    fields:
    - name: colour
      type: {map: {elementType: {scalar: numeric}, elementRelationship: ` + relationship + `}}`))
		if err != nil {
			log.Fatal(err)
		}
		paint, _ := types.Type("paint")
		return paint
	}
	object, err = apply.Reconcile(object, "v1", kind("atomic"), kind("separable"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(object.Entries[0].FieldsV1)
	// Output: {"f:colour":{"f:blue":{},"f:red":{}}}
}

// A kind with one version and no schema: list and map types follow from the values.
func ExampleOneVersion() {
	versions := apply.OneVersion("example.com/v1", schema.Untyped)
	_, known := versions.Type("example.com/v1")
	_, unknown := versions.Type("example.com/v2")
	fmt.Println(known, unknown)
	// Output: true false
}

// SplitObject converts any document, here from YAML, to an Object.
func ExampleSplitObject() {
	doc, err := document.ParseYAML([]byte(`
metadata:
  name: web
  managedFields:
  - {manager: me, operation: Apply, apiVersion: v1, fieldsType: FieldsV1, fieldsV1: {"f:replicas": {}}}
replicas: 1`))
	if err != nil {
		fmt.Println(err)
		return
	}
	object, err := apply.SplitObject(doc)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(object.Document)
	fmt.Println(object.Entries[0].Manager, object.Entries[0].FieldsV1)
	// Output:
	// {"metadata":{"name":"web"},"replicas":1}
	// me {"f:replicas":{}}
}
