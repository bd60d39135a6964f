package ownership_test

import (
	"errors"
	"fmt"

	"github.com/cadastre/cadastre/apply"
	"github.com/cadastre/cadastre/fieldset"
	"github.com/cadastre/cadastre/ownership"
)

// A ConfigMap that kubectl applied client-side, then server-side: two managers own its data.
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

func read() apply.Object {
	object, err := apply.ReadObject(configMap)
	if err != nil {
		panic(err)
	}
	return object
}

// path finds the field that a path means in an object.
func path(object apply.Object, text string) fieldset.Path {
	written, err := ownership.ParsePath(text)
	if err != nil {
		panic(err)
	}
	found, err := written.In(object)
	if err != nil {
		panic(err)
	}
	return found
}

func ExampleMigrate() {
	result, err := ownership.Migrate(read(), ownership.Migration{To: "kubectl"})
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
	object := read()
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
	object := read()
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
	lines, err := ownership.Blame(read(), nil)
	if err != nil {
		fmt.Println(err)
		return
	}
	for _, line := range lines {
		who := ""
		for _, owner := range line.Owners {
			who += owner.Manager + " "
		}
		fmt.Printf("%-34s| %s\n", who, line.Text)
	}
	// Output:
	//                                   | apiVersion: v1
	// kubectl-client-side-apply         | data:
	// kubectl kubectl-client-side-apply |   key: value
	// kubectl-client-side-apply         |   legacy: unused
	//                                   | kind: ConfigMap
	//                                   | metadata:
	//                                   |   name: test
	//                                   |   resourceVersion: "7"
}

func ExampleParsePath() {
	for _, text := range []string{`metadata.labels["example.com/team"]`, "spec.replicas["} {
		written, err := ownership.ParsePath(text)
		if err != nil {
			fmt.Println(err)
			continue
		}
		path, err := written.In(apply.Object{})
		fmt.Println(path.Quoted(), err)
	}
	// Output:
	// .metadata.labels."example.com/team" <nil>
	// path spec.replicas[: expected an item, such as [name=app], [=value] or [0], or a name in quotes, such as ["a.b/c"], received ""
}
