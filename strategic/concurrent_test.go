package strategic

import (
	"reflect"
	"sync"
	"testing"

	corev1 "k8s.io/api/core/v1"

	"github.com/cadastre/cadastre/document"
)

// TestConcurrent checks that concurrent calls of Merge return the same result, for one object, a Type that is loaded by
// the first call, and pooled memory.
func TestConcurrent(t *testing.T) {
	type ownPod struct{ corev1.Pod } // a new Go type, whose Type is not cached yet
	typ := mustType(t, reflect.TypeFor[ownPod]())
	object := mustParse(t, `{spec: {containers: [{name: a, ports: [{containerPort: 1}]}, {name: b}]}, metadata: {finalizers: [x, w]}}`)
	patch := mustParse(t, `{spec: {$setElementOrder/containers: [{name: b}, {name: a}], containers: [{name: a, ports: [{containerPort: 2}]}]},
	  metadata: {finalizers: [z], $deleteFromPrimitiveList/finalizers: [x]}}`)
	want := mustParse(t, `{spec: {containers: [{name: b}, {name: a, ports: [{containerPort: 2}, {containerPort: 1}]}]}, metadata: {finalizers: [z, w]}}`)
	results := make([]document.Value, 200)
	var all sync.WaitGroup
	for worker := range 8 {
		all.Go(func() {
			for i := worker; i < len(results); i += 8 {
				results[i], _ = Merge(object, patch, typ)
			}
		})
	}
	all.Wait()
	for i, got := range results {
		if !document.Equal(got, want) {
			t.Fatalf("Merge() %d = %s, want %s", i, got, want)
		}
	}
}
