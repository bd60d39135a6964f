package structural

import (
	"context"
	"slices"
	"testing"

	"k8s.io/apiextensions-apiserver/pkg/apis/apiextensions"
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apistructural "k8s.io/apiextensions-apiserver/pkg/apiserver/schema"
	apidefaulting "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/defaulting"
	apiobjectmeta "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/objectmeta"
	apipruning "k8s.io/apiextensions-apiserver/pkg/apiserver/schema/pruning"
	apivalidation "k8s.io/apiextensions-apiserver/pkg/apiserver/validation"
	"k8s.io/apiextensions-apiserver/pkg/registry/customresource"
	genericvalidation "k8s.io/apimachinery/pkg/api/validation"
	"k8s.io/apimachinery/pkg/api/validation/path"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	apischema "k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/util/json"
	"k8s.io/apimachinery/pkg/util/validation/field"
	"k8s.io/apiserver/pkg/registry/rest"
	"k8s.io/apiserver/pkg/warning"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/api/crd/structural"
)

// upstream is a version of a CRD as kube-apiserver compiles it.
type upstream struct {
	schema   *apistructural.Structural
	strategy rest.RESTCreateUpdateStrategy
	status   rest.RESTUpdateStrategy
}

// testOptions are the options of all types that these tests compile.
var testOptions = structural.Options{Group: "example.com", Version: "v1", Kind: "Thing", Namespaced: true,
	Scale: &structural.Scale{SpecReplicas: ".spec.replicas", StatusReplicas: ".status.replicas", LabelSelector: ".status.selector"}}

// newUpstream compiles text, a schema, as kube-apiserver does when it starts to serve a CRD. The error list is not
// empty if kube-apiserver rejects the schema.
func newUpstream(text string) (*upstream, field.ErrorList, error) {
	var v1 apiextensionsv1.JSONSchemaProps
	if err := json.Unmarshal([]byte(text), &v1); err != nil {
		return nil, nil, err
	}
	var internal apiextensions.JSONSchemaProps
	if err := apiextensionsv1.Convert_v1_JSONSchemaProps_To_apiextensions_JSONSchemaProps(&v1, &internal, nil); err != nil {
		return nil, nil, err
	}
	s, err := apistructural.NewStructural(&internal)
	if err != nil {
		return nil, nil, err
	}
	if errs := apistructural.ValidateStructural(nil, s); len(errs) > 0 {
		return nil, errs, nil
	}
	errs, err := apidefaulting.ValidateDefaults(context.Background(), nil, s, true, false)
	if err != nil || len(errs) > 0 {
		return nil, errs, err
	}
	s = s.DeepCopy()
	if err := apidefaulting.PruneDefaults(s); err != nil {
		return nil, nil, err
	}
	validator, _, err := apivalidation.NewSchemaValidator(&internal)
	if err != nil {
		return nil, nil, err
	}
	var statusValidator apivalidation.SchemaValidator
	if status, ok := internal.Properties["status"]; ok {
		if statusValidator, _, err = apivalidation.NewSchemaValidator(&status); err != nil {
			return nil, nil, err
		}
	}
	gvk := apischema.GroupVersionKind{Group: testOptions.Group, Version: testOptions.Version, Kind: testOptions.Kind}
	scale := &apiextensions.CustomResourceSubresourceScale{SpecReplicasPath: testOptions.Scale.SpecReplicas,
		StatusReplicasPath: testOptions.Scale.StatusReplicas, LabelSelectorPath: &testOptions.Scale.LabelSelector}
	strategy := customresource.NewStrategy(nil, true, gvk, validator, statusValidator, s, &apiextensions.CustomResourceSubresourceStatus{}, scale, nil)
	return &upstream{schema: s, strategy: strategy, status: customresource.NewStatusStrategy(strategy)}, nil, nil
}

// read decodes obj in place with kube-apiserver's decoder for custom resources, and returns the unknown fields.
func (u *upstream) read(obj map[string]any) (unknown []string, err error) {
	if _, _, err := unstructured.NestedString(obj, "kind"); err != nil {
		return nil, err
	}
	version, _, err := unstructured.NestedString(obj, "apiVersion")
	if err != nil {
		return nil, err
	}
	metadata, found, unknown, err := apiobjectmeta.GetObjectMetaWithOptions(obj, apiobjectmeta.ObjectMetaOptions{ReturnUnknownFieldPaths: true})
	if err != nil {
		return nil, err
	}
	if _, err := apischema.ParseGroupVersion(version); err != nil {
		return nil, err
	}
	unknown = append(unknown, apipruning.PruneWithOptions(obj, u.schema, true, apistructural.UnknownFieldPathOptions{TrackUnknownFieldPaths: true})...)
	apidefaulting.PruneNonNullableNullsWithoutDefaults(obj, u.schema)
	fieldErr, paths := apiobjectmeta.CoerceWithOptions(nil, obj, u.schema, false, apiobjectmeta.CoerceOptions{ReturnUnknownFieldPaths: true})
	if fieldErr != nil {
		return nil, fieldErr
	}
	if found {
		if err := apiobjectmeta.SetObjectMeta(obj, metadata); err != nil {
			return nil, err
		}
	}
	return append(unknown, paths...), nil
}

// validate validates a decoded object with kube-apiserver's code. old is the live object for an update, or nil for a
// creation.
func (u *upstream) validate(obj, old map[string]any, status bool) (errs field.ErrorList, warnings []string) {
	var recorded warningRecorder
	ctx := warning.WithWarningRecorder(context.Background(), &recorded)
	now := &unstructured.Unstructured{Object: obj}
	if old == nil {
		return u.strategy.Validate(ctx, now), recorded
	}
	was := &unstructured.Unstructured{Object: old}
	place := field.NewPath("metadata")
	errs = genericvalidation.ValidateObjectMetaAccessor(now, true, path.ValidatePathSegmentName, place)
	errs = append(errs, genericvalidation.ValidateObjectMetaAccessorUpdate(now, was, place)...)
	if status {
		return append(errs, u.status.ValidateUpdate(ctx, now, was)...), recorded
	}
	return append(errs, u.strategy.ValidateUpdate(ctx, now, was)...), recorded
}

// warningRecorder is a warning.Recorder that collects the warnings.
type warningRecorder []string

func (s *warningRecorder) AddWarning(_, text string) { *s = append(*s, text) }

// errorTexts returns the messages of the errors. They are sorted, because kube-apiserver reports errors in no fixed
// order.
func errorTexts(errs field.ErrorList) (all []string) {
	for _, e := range errs {
		all = append(all, string(e.Type)+" "+e.Error())
	}
	slices.Sort(all)
	return all
}

func parse(t testing.TB, text string) document.Value {
	t.Helper()
	v, err := document.ParseJSON(text)
	if err != nil {
		t.Fatalf("parsing %s: %v", text, err)
	}
	return v
}
