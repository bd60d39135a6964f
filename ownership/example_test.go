package ownership_test

import (
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/ownership"
	"github.com/cadastre/cadastre/schema"
)

// configMap was written by client-side apply, then by server-side apply. Therefore two field managers own fields in its data.
const configMap = `{
  "apiVersion": "v1", "kind": "ConfigMap",
  "data": {"key": "value", "legacy": "unused"},
  "metadata": {"name": "test", "resourceVersion": "7", "managedFields": [
    {"manager": "kubectl", "operation": "Apply", "apiVersion": "v1",
     "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {"f:key": {}}}},
    {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1",
     "fieldsType": "FieldsV1", "fieldsV1": {"f:data": {".": {}, "f:key": {}, "f:legacy": {}}}}
  ]}
}`

// readConfigMap returns the object in configMap.
func readConfigMap() apply.Object {
	object, err := apply.ReadObject(configMap)
	if err != nil {
		panic(err)
	}
	return object
}

// path parses text as a path expression and resolves it in object. It panics if that fails.
func path(object apply.Object, text string) fieldset.Path {
	expression, err := ownership.ParsePath(text)
	if err != nil {
		panic(err)
	}
	found, err := expression.Resolve(object)
	if err != nil {
		panic(err)
	}
	return found
}

// The example moves the fields of client-side apply to the field manager that applies server-side, and prints the patch.
func Example() {
	object, err := apply.ReadObject(configMap)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := ownership.Migrate(object, ownership.Migration{To: "kubectl"})
	if err != nil || result.NoOp() {
		fmt.Println(err)
		return
	}
	patch, err := ownership.Patch(object, result.Entries)
	fmt.Println(string(patch), err)
	// Output:
	// [{"op":"replace","path":"/metadata/managedFields","value":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{".":{},"f:key":{},"f:legacy":{}}},"manager":"kubectl","operation":"Apply"}]},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}] <nil>
}

func ExampleMigrate() {
	result, err := ownership.Migrate(readConfigMap(), ownership.Migration{To: "kubectl"})
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, move := range result.Moves {
		fmt.Printf("from %s:\n%s", move.From.Manager, move.Gained)
	}
	for _, entry := range result.Entries {
		fmt.Println(entry.Manager, entry.Operation, entry.FieldsV1)
	}
	// Output:
	// from kubectl-client-side-apply:
	// .data
	// .data.legacy
	// kubectl Apply {"f:data":{".":{},"f:key":{},"f:legacy":{}}}
}

func ExamplePatch() {
	object := readConfigMap()
	result, err := ownership.Release(object, ownership.Selector{Manager: "kubectl-client-side-apply"}, path(object, "data"))
	if err != nil {
		fmt.Println(err)
		return
	}
	patch, err := ownership.Patch(object, result.Entries)
	fmt.Println(string(patch), err)
	// Output:
	// [{"op":"replace","path":"/metadata/managedFields","value":[{"apiVersion":"v1","fieldsType":"FieldsV1","fieldsV1":{"f:data":{"f:key":{}}},"manager":"kubectl","operation":"Apply"}]},{"op":"replace","path":"/metadata/resourceVersion","value":"7"}] <nil>
}

func ExampleTransfer() {
	object := readConfigMap()
	from, to := ownership.Selector{Manager: "kubectl-client-side-apply"}, ownership.Selector{Manager: "ops"}
	result, err := ownership.Transfer(object, from, to, path(object, "data.legacy"))
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range result.Entries {
		fmt.Println(entry.Manager, entry.Operation, entry.FieldsV1)
	}

	_, err = ownership.Transfer(object, ownership.Selector{Manager: "kubectl"}, to, path(object, "data.legacy"))
	var notOwned *ownership.NotOwnedError
	fmt.Println(errors.As(err, &notOwned), err)
	// Output:
	// kubectl Apply {"f:data":{"f:key":{}}}
	// ops Apply {"f:data":{"f:legacy":{}}}
	// kubectl-client-side-apply Update {"f:data":{".":{},"f:key":{}}}
	// true data.legacy: "kubectl" does not own it; its owners are "kubectl-client-side-apply" by Update
}

func ExampleBlame() {
	lines, err := ownership.Blame(readConfigMap(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range lines {
		owners := ""
		for _, owner := range line.Owners {
			owners += owner.Manager + " "
		}
		if owners == "" {
			owners = line.State.String()
		}
		fmt.Printf("%-34s| %s\n", owners, line.Text)
	}
	// Output:
	// fixed                             | apiVersion: v1
	// kubectl-client-side-apply         | data:
	// kubectl kubectl-client-side-apply |   key: value
	// kubectl-client-side-apply         |   legacy: unused
	// fixed                             | kind: ConfigMap
	// container                         | metadata:
	// fixed                             |   name: test
	// fixed                             |   resourceVersion: "7"
}

func ExampleParsePath() {
	for _, text := range []string{`metadata.labels["example.com/team"]`, "spec.replicas["} {
		expression, err := ownership.ParsePath(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		path, err := expression.Resolve(apply.Object{})
		fmt.Println(path.Quoted(), err)
	}
	// Output:
	// .metadata.labels."example.com/team" <nil>
	// path spec.replicas[: expected an item, such as [name=app], [=value] or [0], or a name in quotes, such as ["a.b/c"], received the end
}

// TakeOver migrates an object as kubectl does before it applies server-side. The last-applied annotation gets
// kubectl-last-applied as an additional field manager, so that the annotation is not pruned and client-side apply remains
// possible.
func ExampleTakeOver() {
	object, err := apply.ReadObject(`{
	  "apiVersion": "v1", "kind": "ConfigMap", "data": {"key": "value"},
	  "metadata": {"name": "test", "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}"}, "managedFields": [
	    {"manager": "kubectl-client-side-apply", "operation": "Update", "apiVersion": "v1", "fieldsType": "FieldsV1", "fieldsV1":
	      {"f:data": {"f:key": {}}, "f:metadata": {"f:annotations": {"f:kubectl.kubernetes.io/last-applied-configuration": {}}}}}
	  ]}
	}`)
	if err != nil {
		fmt.Println(err)
		return
	}
	result, err := ownership.TakeOver(object, ownership.KubectlManager)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, entry := range result.Entries {
		fields, _ := entry.Fields()
		fmt.Printf("%s %s:\n%s", entry.Manager, entry.Operation, fields)
	}
	// Output:
	// kubectl Apply:
	// .data.key
	// .metadata.annotations.kubectl.kubernetes.io/last-applied-configuration
	// kubectl-last-applied Apply:
	// .metadata.annotations.kubectl.kubernetes.io/last-applied-configuration
}

func ExampleOwners() {
	object := readConfigMap()
	owners, err := ownership.Owners(object, path(object, "data.key"))
	for _, owner := range owners {
		fmt.Println(owner.Manager, owner.Operation)
	}
	fmt.Println(err)
	// Output:
	// kubectl Apply
	// kubectl-client-side-apply Update
	// <nil>
}

// Extract returns the fields that a field manager owns as a configuration that this manager can apply.
func ExampleExtract() {
	config, err := ownership.Extract(readConfigMap(), ownership.Selector{Manager: "kubectl"}, schema.Untyped)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print(config.YAML())
	// Output:
	// apiVersion: v1
	// data:
	//   key: value
	// kind: ConfigMap
	// metadata:
	//   name: test
}

// Compare returns the effect of an apply, here from the live object and the result of a dry run.
func ExampleCompare() {
	engine, err := apply.New(apply.Options{Versions: apply.OneVersion("v1", schema.Untyped)})
	if err != nil {
		fmt.Println(err)
		return
	}
	config, err := document.ParseYAML([]byte(`{apiVersion: v1, kind: ConfigMap, metadata: {name: test}, data: {color: red}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	before := readConfigMap()
	dryRun, err := engine.Apply(before, config, apply.Request{Manager: "kubectl", Version: "v1"})
	if err != nil {
		fmt.Println(err)
		return
	}
	manager := ownership.Selector{Manager: "kubectl", Operation: apply.Apply}
	plan, err := ownership.Compare(before, dryRun.Object, manager, schema.Untyped)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Print("added ", plan.Changes.Added, "gained ", plan.Gained, "released ", plan.Released)
	for _, kept := range plan.Kept {
		fmt.Println("kept", kept.Path, kept.Value, "owned by", kept.Owners[0].Manager)
	}
	// Output:
	// added .data.color
	// gained .data.color
	// released .data.key
	// kept .data.key "value" owned by kubectl-client-side-apply
}

// Unset adds an unset marker to a configuration, which requires a field to be absent.
func ExamplePathExpression_Unset() {
	config, err := document.ParseYAML([]byte(`{kind: Deployment, spec: {replicas: 2}}`))
	if err != nil {
		fmt.Println(err)
		return
	}
	expression, err := ownership.ParsePath("spec.template.spec.containers[name=app].resources")
	if err != nil {
		fmt.Println(err)
		return
	}
	config, err = expression.Unset(config)
	fmt.Println(config, err)
	// Output:
	// {"kind":"Deployment","spec":{"replicas":2,"template":{"spec":{"containers":[{"name":"app","resources":{"k8s_io__value":"unset"}}]}}}} <nil>
}

// At returns the value that an owner of a path owns: a granular map without its fields, because each field has its own
// owners.
func ExampleOwnedValues() {
	values, err := ownership.NewOwnedValues(readConfigMap(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(values.At(fieldset.Names("data")), values.At(fieldset.Names("data", "legacy")))
	// Output:
	// {} "unused"
}
