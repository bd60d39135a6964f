package strategic_test

import (
	"fmt"
	"reflect"

	appsv1 "k8s.io/api/apps/v1"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/strategic"
)

// must returns v, or panics if err is not nil.
func must[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

func yaml(text string) document.Value { return must(document.ParseYAML([]byte(text))) }

// The package example applies a strategic merge patch, and computes the patch from the two objects.
func Example() {
	deployment := must(strategic.FromGoType(reflect.TypeFor[appsv1.Deployment]()))
	object := yaml(`spec: {template: {spec: {containers: [{name: web, image: 'web:1'}, {name: proxy, image: 'proxy:4'}]}}}`)
	patch := yaml(`spec: {template: {spec: {containers: [{name: web, image: 'web:2'}]}}}`)
	patched := must(strategic.Merge(object, patch, deployment))
	fmt.Println(patched)
	fmt.Println(must(strategic.Diff(object, patched, deployment)))
	// Output:
	// {"spec":{"template":{"spec":{"containers":[{"image":"web:2","name":"web"},{"image":"proxy:4","name":"proxy"}]}}}}
	// {"spec":{"template":{"spec":{"$setElementOrder/containers":[{"name":"web"},{"name":"proxy"}],"containers":[{"image":"web:2","name":"web"}]}}}}
}

func ExampleMerge() {
	deployment := must(strategic.FromGoType(reflect.TypeFor[appsv1.Deployment]()))
	live := yaml(`
spec:
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}
  template: {spec: {containers: [{name: web, image: 'web:1'}, {name: proxy, image: 'proxy:4'}]}}`)
	patch := yaml(`
spec:
  strategy: {$retainKeys: [type], type: Recreate}
  template: {spec: {containers: [{name: web, image: 'web:2'}]}}`)
	fmt.Print(must(strategic.Merge(live, patch, deployment)).YAML())
	// Output:
	// spec:
	//   strategy:
	//     type: Recreate
	//   template:
	//     spec:
	//       containers:
	//       - image: web:2
	//         name: web
	//       - image: proxy:4
	//         name: proxy
}

func ExampleMerge_error() {
	deployment := must(strategic.FromGoType(reflect.TypeFor[appsv1.Deployment]()))
	live := yaml(`spec: {strategy: {type: RollingUpdate}}`)
	patch := yaml(`spec: {strategy: {$retainKeys: [type], type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}`)
	_, err := strategic.Merge(live, patch, deployment)
	fmt.Println(err)
	// Output:
	// .spec.strategy.$retainKeys: expected a list of all fields that the patch sets, received a list without rollingUpdate; add it to the list, or remove it from the patch
}

func ExampleDiff() {
	deployment := must(strategic.FromGoType(reflect.TypeFor[appsv1.Deployment]()))
	before := yaml(`spec: {strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 1}}}`)
	after := yaml(`spec: {strategy: {type: Recreate}}`)
	fmt.Println(must(strategic.Diff(before, after, deployment)))
	// Output:
	// {"spec":{"strategy":{"$retainKeys":["type"],"rollingUpdate":null,"type":"Recreate"}}}
}

func ExampleAppendMerge() {
	deployment := must(strategic.FromGoType(reflect.TypeFor[appsv1.Deployment]()))
	live := `{"spec":{"paused":true,"replicas":1}}`
	fmt.Println(string(must(strategic.AppendMerge(nil, live, `{"spec":{"paused":null,"replicas":2}}`, deployment))))
	// Output:
	// {"spec":{"replicas":2}}
}

func ExampleThreeWay() {
	deployment := must(strategic.FromGoType(reflect.TypeFor[appsv1.Deployment]()))
	lastApplied := yaml(`spec: {replicas: 1, paused: true}`)
	modified := yaml(`spec: {replicas: 2}`)
	live := yaml(`{metadata: {uid: x}, spec: {replicas: 5, paused: true, minReadySeconds: 7}}`)
	fmt.Println(must(strategic.ThreeWay{Type: deployment, Overwrite: true}.Diff(lastApplied, modified, live)))

	_, err := strategic.ThreeWay{Type: deployment}.Diff(lastApplied, modified, live)
	fmt.Println(err)
	// Output:
	// {"spec":{"paused":null,"replicas":2}}
	// .spec.replicas: another writer changed the value to 5, the patch would change it to 2; apply the changed value, or overwrite it
}

func ExampleApplyJSONPatch() {
	object := yaml(`{metadata: {labels: {a: "1"}}, items: [x]}`)
	patch := yaml(`[{op: test, path: /metadata/labels/a, value: "1"}, {op: add, path: /items/-, value: z}]`)
	fmt.Println(must(strategic.ApplyJSONPatch(object, patch)))

	_, err := strategic.ApplyJSONPatch(object, yaml(`[{op: remove, path: /metadata/annotations/b}]`))
	fmt.Println(err)
	// Output:
	// {"items":["x","z"],"metadata":{"labels":{"a":"1"}}}
	// [0].path: expected an existing path, received "/metadata/annotations/b" without the field "annotations"; add the containing maps first
}

func ExampleMergeJSON() {
	object := yaml(`{metadata: {labels: {a: "1", b: "2"}}, items: [x, w]}`)
	fmt.Println(must(strategic.MergeJSON(object, yaml(`{metadata: {labels: {b: null}}, items: [z]}`))))
	// Output:
	// {"items":["z"],"metadata":{"labels":{"a":"1"}}}
}

// The patch strategies of a kind that has no Go type are loaded from the OpenAPI document of its API server.
func ExampleLoadOpenAPI() {
	schema := must(strategic.LoadOpenAPI(yaml(`
components:
  schemas:
    Shop:
      x-kubernetes-group-version-kind: [{group: example.com, version: v1, kind: Shop}]
      properties:
        doors:
          type: array
          x-kubernetes-patch-strategy: merge
          x-kubernetes-patch-merge-key: name
          items: {properties: {name: {type: string}, open: {type: boolean}}}`)))
	shop, found := schema.Kind("example.com", "v1", "Shop")
	patched := must(strategic.Merge(yaml(`doors: [{name: front}, {name: back}]`), yaml(`doors: [{name: back, open: true}]`), shop))
	fmt.Println(found, patched)
	// Output:
	// true {"doors":[{"name":"front"},{"name":"back","open":true}]}
}

// ApplyJSONPatch ignores unknown fields of operations, such as misspelled ones; UnknownFields returns them for
// warnings.
func ExampleUnknownFields() {
	fmt.Println(strategic.UnknownFields(yaml(`[{op: add, path: /a, vaule: 1}]`)))
	// Output:
	// [[0].vaule]
}
