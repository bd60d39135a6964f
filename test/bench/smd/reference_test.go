package smd_test

import (
	"encoding/json"
	"testing"

	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/managedfields"
	"sigs.k8s.io/structured-merge-diff/v6/typed"

	"github.com/cadastre/cadastre/test/bench/smd"
)

// reference is apimachinery's field manager for unstructured objects.
type reference struct {
	gvk     schema.GroupVersionKind
	manager *managedfields.FieldManager
}

func newReference(t *testing.T, kind *smd.Kind) *reference {
	t.Helper()
	gvk := schema.FromAPIVersionAndKind(kind.APIVersion, kind.Name)
	plain := plainScheme{kind}
	manager, err := managedfields.NewDefaultCRDFieldManager(plain, plain, plain, plain, gvk, gvk.GroupVersion(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return &reference{gvk: gvk, manager: manager}
}

func (r *reference) apply(live, config []byte, manager string, force bool) ([]byte, error) {
	result, err := r.manager.Apply(r.decode(live), r.decode(config), manager, force)
	return encodeReference(result, err)
}

func (r *reference) update(live, updated []byte, manager string) ([]byte, error) {
	result, err := r.manager.Update(r.decode(live), r.decode(updated), manager)
	return encodeReference(result, err)
}

func (r *reference) decode(data []byte) *unstructured.Unstructured {
	decoded := &unstructured.Unstructured{}
	if data == nil {
		decoded.SetGroupVersionKind(r.gvk)
		return decoded
	}
	if err := decoded.UnmarshalJSON(data); err != nil {
		panic(err)
	}
	return decoded
}

func encodeReference(result runtime.Object, err error) ([]byte, error) {
	if err != nil {
		return nil, err
	}
	return json.Marshal(result.(*unstructured.Unstructured).Object)
}

// plainScheme implements the methods of runtime.Scheme that the field manager requires, for one kind with one version
// and without defaults.
type plainScheme struct{ kind *smd.Kind }

func (p plainScheme) ObjectToTyped(o runtime.Object, options ...typed.ValidationOptions) (*typed.TypedValue, error) {
	return p.kind.Type.FromUnstructured(o.(*unstructured.Unstructured).Object, options...)
}

func (plainScheme) TypedToObject(value *typed.TypedValue) (runtime.Object, error) {
	return &unstructured.Unstructured{Object: value.AsValue().Unstructured().(map[string]any)}, nil
}

func (plainScheme) Convert(in, out, context any) error { panic("unexpected call of Convert") }

func (plainScheme) ConvertToVersion(in runtime.Object, _ runtime.GroupVersioner) (runtime.Object, error) {
	return in, nil
}

func (plainScheme) ConvertFieldLabel(_ schema.GroupVersionKind, label, value string) (string, string, error) {
	return label, value, nil
}

func (plainScheme) Default(runtime.Object) {}

func (plainScheme) New(gvk schema.GroupVersionKind) (runtime.Object, error) {
	created := &unstructured.Unstructured{}
	created.SetGroupVersionKind(gvk)
	return created, nil
}
