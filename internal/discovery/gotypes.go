package discovery

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/api/scheme"
)

// goTypes maps kinds to Go types and vice versa. It covers the types that Kubernetes declares; kinds added at run time
// have none.
type goTypes struct{ scheme *runtime.Scheme }

// newGoTypes returns the mapping. Building it takes milliseconds, so it is done when documents are built.
func newGoTypes() goTypes { return goTypes{scheme.Builtin()} }

// of returns the Go type of a kind; false if there is none.
func (g goTypes) of(gvk schema.GroupVersionKind) (reflect.Type, bool) {
	t, ok := g.scheme.KnownTypes(gvk.GroupVersion())[gvk.Kind]
	return t, ok
}

// kindsOf returns the kinds of a Go type. Types that belong to every group, such as DeleteOptions, have several.
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
