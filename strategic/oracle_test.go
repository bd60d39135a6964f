package strategic

import (
	"cmp"
	"flag"
	"fmt"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	networkingv1 "k8s.io/api/networking/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/strategicpatch"
	"k8s.io/client-go/kubernetes/scheme"

	"github.com/cadastre/cadastre/document"
)

// kinds are the Go types for which this package is compared with strategicpatch, the oracle: all kinds of client-go
// that have metadata.
var kinds = allKinds()

func allKinds() []reflect.Type {
	var all []reflect.Type
	for gvk, t := range scheme.Scheme.AllKnownTypes() {
		metadata, ok := t.FieldByName("ObjectMeta")
		if ok && metadata.Anonymous && gvk.Version != runtime.APIVersionInternal && !slices.Contains(all, t) {
			all = append(all, t)
		}
	}
	slices.SortFunc(all, func(a, b reflect.Type) int {
		return cmp.Or(strings.Compare(a.PkgPath(), b.PkgPath()), strings.Compare(a.Name(), b.Name()))
	})
	return all
}

// TestAllKinds checks that kinds contains the expected kinds.
func TestAllKinds(t *testing.T) {
	for _, kind := range []reflect.Type{deployment, pod, service, reflect.TypeFor[rbacv1.ClusterRole](), reflect.TypeFor[networkingv1.Ingress]()} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("%v is not compared with the oracle", kind)
		}
	}
	if len(kinds) < 120 {
		t.Errorf("%d kinds are compared with the oracle, want at least 120", len(kinds))
	}
}

var rounds = flag.Int("rounds", 20, "number of comparisons with the oracle per kind")

// comparisons returns the total number of comparisons with strategicpatch, over all kinds.
func comparisons() int {
	if testing.Short() {
		return 2 * len(kinds)
	}
	return *rounds * len(kinds)
}

// isGoMapError reports whether strategicpatch rejected a patch because of a Go map; see
// TestDifferenceMapsOfMapsAreMerged.
func isGoMapError(err error) bool {
	return err != nil && strings.Contains(err.Error(), "data type is not struct")
}

// oracle merges patch into object with strategicpatch. It returns a panic, which an invalid patch may cause, as an
// error.
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
	return withoutDirectives(result), err
}

// withoutDirectives removes the directives and nulls that strategicpatch leaves in objects; see
// TestDifferenceDirectivesAreRemoved. List items with $patch and maps with $patch: delete are removed completely.
func withoutDirectives(v document.Value) document.Value {
	switch v.Kind() {
	case document.Map:
		var fields []document.Field
		for name, value := range v.Fields() {
			if !isDirective(name) && !value.IsNull() && value.Get(patchDirective).Text() != "delete" {
				fields = append(fields, document.Field{Name: name, Value: withoutDirectives(value)})
			}
		}
		return document.NewMap(fields...)
	case document.List:
		var items []document.Value
		for _, item := range v.Items() {
			if item.Get(patchDirective).IsAbsent() {
				items = append(items, withoutDirectives(item))
			}
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

// reparse encodes v as JSON and parses the JSON. The result has the representation of a value that was received in a
// request.
func reparse(t testing.TB, v document.Value) document.Value {
	t.Helper()
	v, err := document.ParseJSON(v.JSON())
	if err != nil {
		t.Fatal(err)
	}
	return v
}

// TestMergeLikeKubernetes checks that random patches of all kinds have the same result as with strategicpatch.
func TestMergeLikeKubernetes(t *testing.T) {
	count := comparisons()
	merged, changed := 0, 0
	for seed := range uint64(count) {
		kind := kinds[seed%uint64(len(kinds))]
		r := &generator{Rand: rand.New(rand.NewPCG(seed, 1))}
		object := reparse(t, r.value(kind, "", 9))
		patch := reparse(t, r.patch(kind, object, 9))
		want, wantErr := oracle(object, patch, kind)
		if isGoMapError(wantErr) {
			continue
		}
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
	t.Logf("%d of %d patches merged, %d changed the object", merged, count, changed)
	if merged < count*9/10 || changed < count/2 {
		t.Errorf("%d of %d patches merged, want 90%%; %d changed the object, want 50%%", merged, count, changed)
	}
}

// firstDifference describes the first difference between two values; it returns "" if they are equal.
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
