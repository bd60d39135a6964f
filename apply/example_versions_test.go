package apply_test

import (
	"fmt"
	"log"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/schema"
)

// twoVersions is a kind whose field "size" is called "replicas" since v2.
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

// Managers may write at different versions; who owns what holds across them.
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
	// - .size: it is number 1, you want number 2; owned by "old" (Apply with v1)
	// Leave the field out to let its owners keep it, apply the same value to share it, or force to take it over.
}

// A map that was atomic has become granular: its owner comes to own what is in it.
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

// A kind that has one version, without a schema: what a field is follows from its value.
func ExampleOneVersion() {
	versions := apply.OneVersion("example.com/v1", schema.Untyped)
	_, known := versions.Type("example.com/v1")
	_, unknown := versions.Type("example.com/v2")
	fmt.Println(known, unknown)
	// Output: true false
}

// A document from elsewhere, here from YAML, becomes an object.
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
