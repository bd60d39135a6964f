package strategic

import (
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/util/strategicpatch"

	"github.com/cadastre/cadastre/document"
)

// kinds are those that are compared with the oracle.
var kinds = []reflect.Type{
	reflect.TypeFor[appsv1.Deployment](),
	reflect.TypeFor[appsv1.StatefulSet](),
	reflect.TypeFor[corev1.Pod](),
	reflect.TypeFor[corev1.Service](),
	reflect.TypeFor[corev1.ServiceAccount](),
	reflect.TypeFor[corev1.Node](),
	reflect.TypeFor[corev1.PersistentVolume](),
	reflect.TypeFor[corev1.ConfigMap](),
	reflect.TypeFor[batchv1.CronJob](),
	reflect.TypeFor[networkingv1.Ingress](),
	reflect.TypeFor[rbacv1.ClusterRole](),
}

// oracle merges as Kubernetes does. What it makes of bad patches may be a panic.
func oracle(object, patch document.Value, t reflect.Type) (result document.Value, err error) {
	defer func() {
		if r := recover(); r != nil {
			err = fmt.Errorf("panic: %v", r)
		}
	}()
	text, err := strategicpatch.StrategicMergePatch([]byte(object.JSON()), []byte(patch.JSON()), reflect.New(t).Interface())
	if err != nil {
		return document.Value{}, err
	}
	result, err = document.ParseJSON(text)
	return withoutLeftovers(result), err
}

// withoutLeftovers removes the directives and nulls that Kubernetes leaves in objects, and drops
// when it decodes them.
func withoutLeftovers(v document.Value) document.Value {
	switch v.Kind() {
	case document.Map:
		var fields []document.Field
		for name, value := range v.Fields() {
			if !isDirective(name) && !value.IsNull() {
				fields = append(fields, document.Field{Name: name, Value: withoutLeftovers(value)})
			}
		}
		return document.NewMap(fields...)
	case document.List:
		items := make([]document.Value, v.Len())
		for i, item := range v.Items() {
			items[i] = withoutLeftovers(item)
		}
		return document.NewList(items...)
	}
	return v
}

func mustType(t testing.TB, typ reflect.Type) *Type {
	t.Helper()
	made, err := FromGoType(typ)
	if err != nil {
		t.Fatal(err)
	}
	return made
}

func mustParse(t testing.TB, text string) document.Value {
	t.Helper()
	v, err := document.ParseYAML([]byte(text))
	if err != nil {
		t.Fatalf("%v in:\n%s", err, text)
	}
	return v
}

// reread writes and reads a value, so that it is as values are that were received.
func reread(t testing.TB, v document.Value) document.Value {
	t.Helper()
	v, err := document.ParseJSON(v.JSON())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

func TestMergeLikeKubernetes(t *testing.T) {
	rounds := 1200
	if testing.Short() {
		rounds = 200
	}
	merged, changed := 0, 0
	for seed := range uint64(rounds) {
		kind := kinds[seed%uint64(len(kinds))]
		r := &random{Rand: rand.New(rand.NewPCG(seed, 1))}
		object := reread(t, r.value(kind, "", 9))
		patch := reread(t, r.patch(kind, object, 9))
		want, wantErr := oracle(object, patch, kind)
		got, err := Merge(object, patch, mustType(t, kind))
		if (err == nil) != (wantErr == nil) {
			t.Fatalf("seed %d, %v:\nobject %s\npatch %s\nerror %v\nKubernetes %v", seed, kind, object, patch, err, wantErr)
		}
		if err != nil {
			continue
		}
		merged++
		if !document.Equal(got, want) {
			t.Fatalf("seed %d, %v:\nobject %s\npatch %s\ngot        %s\nKubernetes %s\n%s", seed, kind, object, patch, got, want, firstDifference(got, want, ""))
		}
		if document.Equal(got, object) != document.Same(got, object) {
			t.Fatalf("seed %d, %v:\nobject %s\npatch %s\na patch that changes nothing must return the object", seed, kind, object, patch)
		}
		if !document.Same(got, object) {
			changed++
		}
		again, err := Merge(got, patch, mustType(t, kind))
		if err != nil || !document.Same(again, got) {
			t.Fatalf("seed %d, %v:\nobject %s\npatch %s\nonce  %s\ntwice %s\nerror %v", seed, kind, object, patch, got, again, err)
		}
	}
	t.Logf("%d of %d patches were merged, %d changed something", merged, rounds, changed)
	if merged < rounds*9/10 || changed < rounds/2 {
		t.Errorf("the random patches are too bad to prove anything")
	}
}

// firstDifference says where two values differ, for people.
func firstDifference(a, b document.Value, path string) string {
	if a.Kind() == b.Kind() && a.Kind() == document.Map {
		for _, names := range []document.Value{a, b} {
			for name := range names.Fields() {
				if d := firstDifference(a.Get(name), b.Get(name), path+"."+name); d != "" {
					return d
				}
			}
		}
		return ""
	}
	if a.Kind() == b.Kind() && a.Kind() == document.List && a.Len() == b.Len() {
		for i := range a.Len() {
			if d := firstDifference(a.At(i), b.At(i), path+indexStep(i)); d != "" {
				return d
			}
		}
		return ""
	}
	if document.Equal(a, b) {
		return ""
	}
	return strings.Join([]string{path, a.String(), b.String()}, "\n  ")
}
