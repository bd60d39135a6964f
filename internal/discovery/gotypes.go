package discovery

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/api/scheme"
)

// goTypes finds the Go types of kinds, and the kinds of Go types. It knows those that Kubernetes
// declares; a kind that is added at run time has none.
type goTypes struct{ scheme *runtime.Scheme }

// newGoTypes makes it, which costs milliseconds: nothing is done before documents are asked for.
func newGoTypes() goTypes { return goTypes{scheme.Builtin()} }

// of returns the Go type of a kind.
func (g goTypes) of(gvk schema.GroupVersionKind) (reflect.Type, bool) {
	t, ok := g.scheme.KnownTypes(gvk.GroupVersion())[gvk.Kind]
	return t, ok
}

// kindsOf returns the kinds that have a Go type. More than one have those that serve every group,
// such as DeleteOptions.
func (g goTypes) kindsOf(t reflect.Type) []schema.GroupVersionKind {
	object, ok := reflect.New(t).Interface().(runtime.Object)
	if !ok {
		return nil
	}
	found, _, err := g.scheme.ObjectKinds(object)
	if err != nil {
		return nil
	}
	return found
}
