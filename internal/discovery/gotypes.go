package discovery

import (
	"reflect"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/internal/api/scheme"
)

// goTypes maps built-in kinds to their Go types, and Go types to kinds. Custom resources have no Go types.
type goTypes struct{ scheme *runtime.Scheme }

// newGoTypes returns the mapping for all built-in kinds. It is called only when documents are built, because the first call
// takes milliseconds.
func newGoTypes() goTypes { return goTypes{scheme.Builtin()} }

// goType returns the Go type of the kind gvk; false if there is none.
func (g goTypes) goType(gvk schema.GroupVersionKind) (reflect.Type, bool) {
	t, ok := g.scheme.KnownTypes(gvk.GroupVersion())[gvk.Kind]
	return t, ok
}

// kindsOf returns the kinds whose Go type is t; nil if t is not the type of a kind. Types that belong to every group, such as
// DeleteOptions, have several kinds.
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
