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
	_ "k8s.io/kubernetes/pkg/controlplane" // installs all API groups in the scheme
)

func init() {
	capabilities.Setup(true, 0) // as in nearly every cluster, kube-apiserver runs with --allow-privileged
}

// verdict contains one line per validation error. It is empty for a valid object.
type verdict []string

// decode decodes text and sets defaults. stable reports whether the defaults changed nothing.
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

// upstreamVerdict returns the errors of kube-apiserver's validation of an object. old is nil for a creation. ok is
// false if there is no result, because strategies may panic on objects that decoding would reject.
func upstreamVerdict(object, old runtime.Object, gvk schema.GroupVersionKind) (upstream verdict, ok bool) {
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
	uid := m.GetUID() // labels of Jobs must match the UID
	rest.FillObjectMetaSystemFields(m)
	m.SetUID(uid)
	return causes(rest.BeforeCreate(s, ctx, object))
}

// scoped is implemented by all strategies.
type scoped interface{ NamespaceScoped() bool }

func requestFor(s scoped, gvk schema.GroupVersionKind, m metav1.Object) context.Context {
	namespace := ""
	if s.NamespaceScoped() {
		namespace = m.GetNamespace()
	}
	ctx := genericapirequest.WithNamespace(context.Background(), namespace)
	// Other strategies would record the user, which is an irrelevant change.
	if gvk.Group == "resource.k8s.io" || gvk.Kind == "PodCertificateRequest" {
		ctx = genericapirequest.WithUser(ctx, &user.DefaultInfo{Name: "ann"})
	}
	return genericapirequest.WithRequestInfo(ctx, &genericapirequest.RequestInfo{
		APIGroup: gvk.Group, APIVersion: gvk.Version, IsResourceRequest: true, Verb: "create",
	})
}

// isPrepared reports whether the strategy s changes object, apart from metadata and status, before kube-apiserver
// validates it. The validation result would then be that of a different object.
func isPrepared(ctx context.Context, s strategy, object runtime.Object) bool {
	prepared := object.DeepCopyObject()
	s.PrepareForCreate(ctx, prepared)
	return !equality.Semantic.DeepEqual(withoutMetadataAndStatus(object), withoutMetadataAndStatus(prepared))
}

// withoutMetadataAndStatus returns a copy of object without metadata and status.
func withoutMetadataAndStatus(object runtime.Object) any {
	copied := object.DeepCopyObject()
	for _, name := range []string{"ObjectMeta", "Status"} {
		if f := reflect.ValueOf(copied).Elem().FieldByName(name); f.IsValid() {
			f.SetZero()
		}
	}
	return copied
}

func causes(err error) (upstream verdict, ok bool) {
	if err == nil {
		return nil, true
	}
	var status *apierrors.StatusError
	if !errors.As(err, &status) || status.ErrStatus.Reason != metav1.StatusReasonInvalid {
		return nil, false
	}
	for _, cause := range status.ErrStatus.Details.Causes {
		upstream = append(upstream, fmt.Sprintf("%s %s %s", cause.Type, cause.Field, firstLine(cause.Message)))
	}
	return upstream, true
}

// firstLine returns the first line of a message, without the diffs of structs that some messages contain.
func firstLine(message string) string {
	message, _, _ = strings.Cut(message, "\n")
	return message
}
