package apply_test

import (
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/schema"
)

// deploymentTypes declares a small kind in the schema language of structured-merge-diff.
const deploymentTypes = `
types:
- name: deployment
  map:
    fields:
    - {name: apiVersion, type: {scalar: string}}
    - {name: kind, type: {scalar: string}}
    - {name: metadata, type: {map: {fields: [{name: name, type: {scalar: string}}]}}}
    - {name: replicas, type: {scalar: numeric}}
    - {name: paused, type: {scalar: boolean}}
    - name: containers
      type:
        list:
          elementRelationship: associative
          keys: [name]
          elementType: {map: {fields: [{name: name, type: {scalar: string}}, {name: image, type: {scalar: string}}]}}
`

// deployments returns an engine for the kind in deploymentTypes.
func deployments() *apply.Engine {
	types, err := schema.LoadTypes(yaml(deploymentTypes))
	if err != nil {
		log.Fatal(err)
	}
	deployment, _ := types.Type("deployment")
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion("apps/v1", deployment), Unset: true})
	if err != nil {
		log.Fatal(err)
	}
	return engine
}

func yaml(text string) document.Value {
	v, err := document.ParseYAML([]byte(text))
	if err != nil {
		log.Fatal(err)
	}
	return v
}

// requestBy returns a request of the field manager.
func requestBy(manager string) apply.Request {
	return apply.Request{Manager: manager, Version: "apps/v1", Time: time.Date(2026, 1, 2, 15, 4, 5, 0, time.UTC)}
}

// printObject prints the document and the entries of an object.
func printObject(o apply.Object) {
	fmt.Println(o.Document)
	for _, e := range o.Entries {
		fmt.Println(e.Manager, e.Operation, e.FieldsV1)
	}
}

// Two managers apply to one object; the second apply conflicts.
func Example() {
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion("v1", schema.Untyped)})
	if err != nil {
		log.Fatal(err)
	}
	result, err := engine.Apply(apply.Object{}, yaml(`data: {color: red}`), apply.Request{Manager: "alice", Version: "v1"})
	if err != nil {
		log.Fatal(err)
	}
	stored := result.Object.JSON()
	fmt.Println(stored)

	live, err := apply.ReadObject(stored)
	if err != nil {
		log.Fatal(err)
	}
	_, err = engine.Apply(live, yaml(`data: {color: blue}`), apply.Request{Manager: "bob", Version: "v1"})
	var conflict *apply.ConflictError
	if errors.As(err, &conflict) {
		c := conflict.Conflicts[0]
		fmt.Println(c.Path, "is", c.Live, "owned by", c.Owners[0].Manager, "and would become", c.Wanted)
	}
	// Output:
	// {"data":{"color":"red"},"metadata":{"managedFields":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:color":{}}},"manager":"alice","operation":"Apply"}]}}
	// .data.color is "red" owned by alice and would become "blue"
}

// An engine handles one kind at one endpoint. schema.Untyped is for kinds without a schema. Here status is a reset field, so no field
// manager becomes its owner.
func ExampleNew() {
	engine, err := apply.New(apply.Options{
		Versions: apply.OneVersion("example.com/v1", schema.Untyped),
		Reset:    map[string]fieldset.Set{"example.com/v1": fieldset.New(fieldset.Names("status"))},
	})
	if err != nil {
		log.Fatal(err)
	}
	r := apply.Request{Manager: "ci", Version: "example.com/v1"}
	result, err := engine.Apply(apply.Object{}, yaml(`{size: 1, status: {ready: true}}`), r)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(result.Object.Entries[0].FieldsV1)
	// Output: {"f:size":{}}
}

// Two managers apply to one object; each owns the fields that it applied.
func ExampleEngine_Apply() {
	engine := deployments()
	result, err := engine.Apply(apply.Object{}, yaml(`{replicas: 1, containers: [{name: app, image: app:1}]}`), requestBy("ci"))
	if err != nil {
		log.Fatal(err)
	}
	result, err = engine.Apply(result.Object, yaml(`containers: [{name: proxy, image: proxy:7}]`), requestBy("mesh"))
	if err != nil {
		log.Fatal(err)
	}
	printObject(result.Object)

	// Applying the same configuration again is a no-op. Fields that a configuration no longer has are pruned.
	result, _ = engine.Apply(result.Object, yaml(`containers: [{name: proxy, image: proxy:7}]`), requestBy("mesh"))
	fmt.Println(result.NoOp)
	result, _ = engine.Apply(result.Object, yaml(`replicas: 1`), requestBy("ci"))
	fmt.Println(result.Object.Document)
	// Output:
	// {"containers":[{"image":"app:1","name":"app"},{"image":"proxy:7","name":"proxy"}],"replicas":1}
	// ci Apply {"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:image":{},"f:name":{}}},"f:replicas":{}}
	// mesh Apply {"f:containers":{"k:{\"name\":\"proxy\"}":{".":{},"f:image":{},"f:name":{}}}}
	// true
	// {"containers":[{"image":"proxy:7","name":"proxy"}],"replicas":1}
}

// Every write other than an apply is an update: the manager becomes the owner of the fields that it changed.
func ExampleEngine_Update() {
	engine := deployments()
	result, err := engine.Apply(apply.Object{}, yaml(`{replicas: 1, paused: false}`), requestBy("ci"))
	if err != nil {
		log.Fatal(err)
	}
	result, err = engine.Update(result.Object, yaml(`{replicas: 5, paused: false}`), requestBy("kubectl-scale"))
	if err != nil {
		log.Fatal(err)
	}
	printObject(result.Object)
	fmt.Print(result.Changes().Modified)
	// Output:
	// {"paused":false,"replicas":5}
	// ci Apply {"f:paused":{}}
	// kubectl-scale Update {"f:replicas":{}}
	// .replicas
}

// Extract, modify, apply: a controller changes one of its fields without storing its configuration.
func ExampleEngine_Extract() {
	engine := deployments()
	result, err := engine.Apply(apply.Object{}, yaml(`{replicas: 1, paused: true}`), requestBy("controller"))
	if err != nil {
		log.Fatal(err)
	}
	result, err = engine.Apply(result.Object, yaml(`containers: [{name: app, image: app:1}]`), requestBy("ci"))
	if err != nil {
		log.Fatal(err)
	}
	config, err := engine.Extract(result.Object, requestBy("controller"))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(config)
	result, err = engine.Apply(result.Object, config.With("replicas", document.NewInt(2)), requestBy("controller"))
	fmt.Println(result.Object.Document, err)
	// Output:
	// {"paused":true,"replicas":1}
	// {"containers":[{"image":"app:1","name":"app"}],"paused":true,"replicas":2} <nil>
}

// Objects are decoded from and encoded as the JSON of Kubernetes.
func ExampleReadObject() {
	object, err := apply.ReadObject([]byte(`{"apiVersion":"apps/v1","kind":"Deployment","metadata":{"managedFields":[` +
		`{"apiVersion":"apps/v1","fieldsType":"FieldsV1","fieldsV1":{"f:replicas":{}},"manager":"ci","operation":"Apply","time":"2026-01-02T15:04:05Z"}` +
		`],"name":"web"},"replicas":1}`))
	if err != nil {
		log.Fatal(err)
	}
	printObject(object)
	fields, err := object.Entries[0].Fields()
	fmt.Println(fields.Has(fieldset.Names("replicas")), err)
	// Output:
	// {"apiVersion":"apps/v1","kind":"Deployment","metadata":{"name":"web"},"replicas":1}
	// ci Apply {"f:replicas":{}}
	// true <nil>
}

// An unset marker removes a field, and the field manager owns the absence of the field.
func ExampleOptions_unset() {
	engine := deployments()
	result, err := engine.Apply(apply.Object{}, yaml(`{replicas: 1, containers: [{name: app}, {name: debug}]}`), requestBy("ci"))
	if err != nil {
		log.Fatal(err)
	}
	r := requestBy("policy")
	r.Force = true
	result, err = engine.Apply(result.Object, yaml(`
replicas: {k8s_io__value: unset}
containers: [{name: debug, k8s_io__value: unset}]
`), r)
	if err != nil {
		log.Fatal(err)
	}
	printObject(result.Object)
	_, err = engine.Apply(result.Object, yaml(`{replicas: 3, containers: [{name: app}]}`), requestBy("ci"))
	fmt.Println(err)
	// Output:
	// {"containers":[{"name":"app"}]}
	// ci Apply {"f:containers":{"k:{\"name\":\"app\"}":{".":{},"f:name":{}}}}
	// policy Apply {"f:containers":{"k:{\"name\":\"debug\"}":{}},"f:replicas":{}}
	// apply conflicts with other managers on 1 field:
	// - .replicas: live value is absent, applied value is number 3; owned by "policy" (Apply with apps/v1, at 2026-01-02T15:04:05Z)
	// To leave a field to its owners, remove it from the configuration; to become a co-owner, apply the live value; to take it over, force.
}

// A conflict has the path, the live value, the applied value and the owners. ForcePaths takes over single fields.
func ExampleConflictError() {
	engine := deployments()
	result, err := engine.Apply(apply.Object{}, yaml(`{replicas: 1, paused: true}`), requestBy("ci"))
	if err != nil {
		log.Fatal(err)
	}
	config := yaml(`{replicas: 3, paused: true}`)
	_, err = engine.Apply(result.Object, config, requestBy("autoscaler"))
	var conflict *apply.ConflictError
	if errors.As(err, &conflict) {
		for _, c := range conflict.Conflicts {
			fmt.Printf("%v is %v, wanted %v, owned by %s\n", c.Path, c.Live, c.Wanted, c.Owners[0].Manager)
		}
	}
	r := requestBy("autoscaler")
	r.ForcePaths = []fieldset.Path{fieldset.Names("replicas")}
	result, err = engine.Apply(result.Object, config, r)
	fmt.Println(result.Object.Document, err)
	// Output:
	// .replicas is 1, wanted 3, owned by ci
	// {"paused":true,"replicas":3} <nil>
}
