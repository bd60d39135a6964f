package oracle

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/authentication/user"
	genericapirequest "k8s.io/apiserver/pkg/endpoints/request"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/kubernetes/pkg/api/legacyscheme"
	"k8s.io/kubernetes/pkg/capabilities"
	_ "k8s.io/kubernetes/pkg/controlplane" // installs all groups
)

func init() {
	capabilities.Setup(true, 0) // kube-apiserver runs with --allow-privileged in nearly every cluster
}

// verdict is what was said about an object: one line an error, none if it is right.
type verdict []string

// decode reads an object and sets its defaults. stable says that there was nothing to set.
func decode(text []byte) (object runtime.Object, defaulted []byte, stable bool, err error) {
	gvk := &schema.GroupVersionKind{}
	plain, gvk, err := unstrictDecoder.Decode(text, nil, nil)
	if err != nil {
		return nil, nil, false, err
	}
	before, err := json.Marshal(plain)
	if err != nil {
		return nil, nil, false, err
	}
	legacyscheme.Scheme.Default(plain)
	after, err := json.Marshal(plain)
	if err != nil {
		return nil, nil, false, err
	}
	internal, err := legacyscheme.Scheme.ConvertToVersion(plain, schema.GroupVersion{Group: gvk.Group, Version: runtime.APIVersionInternal})
	return internal, after, string(before) == string(after), err
}

var unstrictDecoder = legacyscheme.Codecs.UniversalDeserializer()

// ask asks kube-apiserver about an object; old is nil when it is created. ok is false if it
// could not say: it may panic on what decoding refuses in truth.
func ask(object, old runtime.Object, gvk schema.GroupVersionKind) (said verdict, ok bool) {
	defer func() {
		if recover() != nil {
			ok = false
		}
	}()
	s := strategies[gvk.GroupKind()]
	object = object.DeepCopyObject()
	m, err := meta.Accessor(object)
	if err != nil {
		return nil, false
	}
	ctx := requestFor(s, gvk, m)
	if old != nil {
		return causes(rest.BeforeUpdate(s, ctx, object, old.DeepCopyObject()))
	}
	if isPrepared(ctx, s, object) {
		return nil, false
	}
	uid := m.GetUID() // labels of jobs are to go with it
	rest.FillObjectMetaSystemFields(m)
	m.SetUID(uid)
	return causes(rest.BeforeCreate(s, ctx, object))
}

// scoped knows whether objects are in namespaces.
type scoped interface{ NamespaceScoped() bool }

func requestFor(s scoped, gvk schema.GroupVersionKind, m metav1.Object) context.Context {
	namespace := ""
	if s.NamespaceScoped() {
		namespace = m.GetNamespace()
	}
	ctx := genericapirequest.WithNamespace(context.Background(), namespace)
	if gvk.Group == "resource.k8s.io" { // other kinds would note who it is, which is a change that says nothing
		ctx = genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: "ann"})
	}
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		APIGroup: gvk.Group, APIVersion: gvk.Version, IsResourceRequest: true, Verb: "create",
	})
}

// isPrepared reports whether kube-apiserver changes an object before it looks at it, beyond
// metadata and status. Then its answer is about another object than the one that is recorded.
func isPrepared(ctx context.Context, s strategy, object runtime.Object) bool {
	prepared := object.DeepCopyObject()
	s.PrepareForCreate(ctx, prepared)
	return !equality.Semantic.DeepEqual(essential(object), essential(prepared))
}

// essential returns a copy of an object without metadata and status.
func essential(object runtime.Object) any {
	copied := object.DeepCopyObject()
	for _, name := range []string{"ObjectMeta", "Status"} {
		if f := reflect.ValueOf(copied).Elem().FieldByName(name); f.IsValid() {
			f.SetZero()
		}
	}
	return copied
}

func causes(err error) (said verdict, ok bool) {
	if err == nil {
		return nil, true
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Reason != metav1.StatusReasonInvalid {
		return nil, false
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		said = append(said, fmt.Sprintf("%s %s %s", cause.Type, cause.Field, flat(cause.Message)))
	}
	return said, true
}

// flat puts a message on one line, without the differences of structs that some end with.
func flat(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	return message
}
