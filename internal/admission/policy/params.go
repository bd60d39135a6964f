package policy

import (
	"context"
	"errors"
	"fmt"

	registration "k8s.io/api/admissionregistration/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api"
	"github.com/cadastre/cadastre/internal/storage"
	"github.com/cadastre/cadastre/internal/watchcache"
)

// paramKind is the kind of a policy's parameter objects, with the apiVersion that the policy names. It is nil if the policy
// has no parameters.
type paramKind struct {
	*api.Kind
	apiVersion string
}

// paramKind returns the kind that a policy's spec.paramKind names; nil if the policy has none. An unknown kind is an error.
func (o *Options) paramKind(gvk *schema.GroupVersionKind) (*paramKind, error) {
	if gvk == nil {
		return nil, nil
	}
	kind, ok := o.Kinds.Kind(gvk.Group, gvk.Version, gvk.Kind)
	if !ok || kind.CreateOnly {
		return nil, fmt.Errorf("failed to find resource referenced by paramKind: '%v'", *gvk)
	}
	return &paramKind{kind, gvk.GroupVersion().String()}, nil
}

// collect returns the parameter objects for which a binding is evaluated: a single nil if the policy or the binding uses no
// parameters, and an empty list if no object is found and parameterNotFoundAction is Allow.
func (o *Options) collect(ctx context.Context, kind *paramKind, b *binding, namespace string) ([]runtime.Object, error) {
	ref := b.params
	if kind == nil || ref == nil {
		return []runtime.Object{nil}, nil
	}
	switch {
	case kind.Namespaced && ref.Namespace != "":
		namespace = ref.Namespace
	case kind.Namespaced && namespace == "":
		return nil, errors.New("cannot use namespaced paramRef in policy binding that matches cluster-scoped resources")
	case !kind.Namespaced && ref.Namespace != "":
		return nil, errors.New("paramRef.namespace must not be provided for a cluster-scoped `paramKind`")
	case !kind.Namespaced:
		namespace = ""
	}
	found, err := o.find(ctx, kind, ref, namespace)
	if err != nil {
		return nil, err
	}
	if len(found) == 0 && ref.ParameterNotFoundAction != nil && *ref.ParameterNotFoundAction == registration.DenyAction {
		return nil, errors.New("no params found for policy binding with `Deny` parameterNotFoundAction")
	}
	var params []runtime.Object
	for _, object := range found {
		param, err := kind.at(object)
		if err != nil {
			return nil, err
		}
		params = append(params, param)
	}
	return params, nil
}

// find returns the objects that a binding's paramRef names or selects; none if they do not exist.
func (o *Options) find(ctx context.Context, kind *paramKind, ref *registration.ParamRef, namespace string) ([]*watchcache.Object, error) {
	switch {
	case ref.Name != "" && ref.Selector != nil:
		return nil, errors.New("paramRef.name and paramRef.selector are mutually exclusive")
	case ref.Name != "":
		object, err := o.Cache.Get(ctx, watchcache.Key{Kind: kind.StoreName(), Namespace: namespace, Name: ref.Name}, watchcache.Any)
		if errors.Is(err, storage.ErrNotFound) {
			return nil, nil
		}
		return []*watchcache.Object{object}, err
	case ref.Selector != nil:
		selector, err := metav1.LabelSelectorAsSelector(ref.Selector)
		if err != nil {
			return nil, err
		}
		list, err := o.Cache.List(ctx, watchcache.Query{Selection: watchcache.Selection{Kind: kind.StoreName(), Namespace: namespace, Labels: selector}, Freshness: watchcache.Any})
		return list.Objects, err
	default:
		return nil, errors.New("one of name or selector must be provided")
	}
}

// at returns a stored parameter object, converted to the apiVersion of the paramKind.
func (k *paramKind) at(object *watchcache.Object) (runtime.Object, error) {
	doc, err := document.ParseJSONLimited(object.AppendJSON(nil), document.Limits{MaxBytes: -1})
	if err != nil {
		return nil, err
	}
	if doc, err = k.Convert(doc, k.StoredVersion(), k.apiVersion); err != nil {
		return nil, err
	}
	content, _ := doc.ToGo().(map[string]any)
	return &unstructured.Unstructured{Object: content}, nil
}
