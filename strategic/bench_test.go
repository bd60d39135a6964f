package strategic

import (
	"fmt"
	"reflect"
	"testing"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/cadastre/cadastre/document"
)

// The benchmarks measure Merge and Diff from JSON to JSON, compared with apimachinery's strategicpatch. The cases are a
// Deployment whose image and replicas change, and a container with up to 10,000 environment variables, all of which
// change.

const benchDeployment = `
apiVersion: apps/v1
kind: Deployment
metadata:
  name: web
  namespace: default
  resourceVersion: "123456"
  uid: 0d8a5f9e-3b51-4a8e-9f4c-2f1f6d7f3f11
  labels: {app: web, team: shop, tier: front}
  annotations: {deployment.kubernetes.io/revision: "7", note: keep}
spec:
  replicas: 3
  selector: {matchLabels: {app: web}}
  strategy: {type: RollingUpdate, rollingUpdate: {maxSurge: 25%, maxUnavailable: 25%}}
  template:
    metadata: {labels: {app: web, team: shop, tier: front}}
    spec:
      containers:
      - name: web
        image: registry.example.org/shop/web:1.2.3
        ports: [{containerPort: 8080, name: http, protocol: TCP}, {containerPort: 9090, name: metrics, protocol: TCP}]
        env: [{name: A, value: "1"}, {name: B, value: "2"}, {name: C, value: "3"}]
        resources: {limits: {cpu: "1", memory: 512Mi}, requests: {cpu: 100m, memory: 256Mi}}
        volumeMounts: [{mountPath: /data, name: data}, {mountPath: /etc/web, name: config}]
        terminationMessagePath: /dev/termination-log
        terminationMessagePolicy: File
        imagePullPolicy: IfNotPresent
      - {name: proxy, image: 'registry.example.org/mesh/proxy:4', ports: [{containerPort: 15000, protocol: TCP}]}
      volumes: [{name: data, emptyDir: {}}, {name: config, configMap: {name: web, defaultMode: 420}}]
      dnsPolicy: ClusterFirst
      restartPolicy: Always
      schedulerName: default-scheduler
      terminationGracePeriodSeconds: 30
status: {observedGeneration: 7, replicas: 3, readyReplicas: 3, availableReplicas: 3}
`

const benchPatch = `
spec:
  replicas: 5
  template:
    spec:
      $setElementOrder/containers: [{name: web}, {name: proxy}]
      containers: [{name: web, image: 'registry.example.org/shop/web:1.2.4', env: [{name: D, value: "4"}]}]
`

// benchCase is an object, a patch and the patched object.
type benchCase struct {
	name          string
	kind          reflect.Type
	object, patch document.Value
	patched       []byte
}

// benchCases returns the cases of all benchmarks.
func benchCases(b *testing.B) []benchCase {
	cases := []benchCase{{name: "deployment", kind: deployment, object: mustParse(b, benchDeployment), patch: mustParse(b, benchPatch)}}
	for _, size := range []int{10, 100, 1000, 10_000} {
		cases = append(cases, benchCase{name: fmt.Sprintf("items=%d", size), kind: reflect.TypeFor[corev1.Pod](),
			object: envPod(size, false), patch: envPod(size, true)})
	}
	for i, c := range cases {
		patched, err := Merge(c.object, c.patch, mustType(b, c.kind))
		if err != nil {
			b.Fatal(err)
		}
		cases[i].patched = []byte(patched.JSON())
	}
	return cases
}

// envPod returns a Pod with count environment variables. If patch is true, it returns a patch that changes each of
// these variables, and lists them in reverse order.
func envPod(count int, patch bool) document.Value {
	items := make([]document.Value, count)
	for i := range items {
		n, value := i, "old"
		if patch {
			n, value = count-1-i, "new"
		}
		items[i] = document.NewMap(document.Field{Name: "name", Value: document.NewString(fmt.Sprintf("VARIABLE_%d", n))},
			document.Field{Name: "value", Value: document.NewString(value)})
	}
	container := document.NewMap(document.Field{Name: "name", Value: document.NewString("main")},
		document.Field{Name: "env", Value: document.NewList(items...)})
	return document.NewMap(document.Field{Name: "spec", Value: document.NewMap(document.Field{Name: "containers", Value: document.NewList(container)})})
}

// isSlow reports whether strategicpatch takes many seconds for the case; its benchmark then skips the case.
func (c *benchCase) isSlow() bool { return c.name == "items=10000" }

func BenchmarkMerge(b *testing.B) {
	for _, c := range benchCases(b) {
		object, patch, typ := []byte(c.object.JSON()), []byte(c.patch.JSON()), mustType(b, c.kind)
		b.Run(c.name+"/cadastre", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				o, err := document.ParseJSON(object)
				if err != nil {
					b.Fatal(err)
				}
				p, err := document.ParseJSON(patch)
				if err != nil {
					b.Fatal(err)
				}
				merged, err := Merge(o, p, typ)
				if err != nil {
					b.Fatal(err)
				}
				_ = merged.AppendJSON(make([]byte, 0, merged.JSONSize()))
			}
		})
		b.Run(c.name+"/strategicpatch", func(b *testing.B) {
			if c.isSlow() {
				b.Skip("strategicpatch takes many seconds for this case")
			}
			b.ReportAllocs()
			data := reflect.New(c.kind).Interface()
			for b.Loop() {
				if _, err := strategicpatch.StrategicMergePatch(object, patch, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

func BenchmarkDiff(b *testing.B) {
	for _, c := range benchCases(b) {
		object, typ := []byte(c.object.JSON()), mustType(b, c.kind)
		b.Run(c.name+"/cadastre", func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				before, err := document.ParseJSON(object)
				if err != nil {
					b.Fatal(err)
				}
				after, err := document.ParseJSON(c.patched)
				if err != nil {
					b.Fatal(err)
				}
				patch, err := Diff(before, after, typ)
				if err != nil {
					b.Fatal(err)
				}
				_ = patch.AppendJSON(make([]byte, 0, patch.JSONSize()))
			}
		})
		b.Run(c.name+"/strategicpatch", func(b *testing.B) {
			if c.isSlow() {
				b.Skip("strategicpatch takes many seconds for this case")
			}
			b.ReportAllocs()
			data := reflect.New(c.kind).Interface()
			for b.Loop() {
				if _, err := strategicpatch.CreateTwoWayMergePatch(object, c.patched, data); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
