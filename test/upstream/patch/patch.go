//lint:file-ignore U1000 Kubernetes' tests, which are compiled into this package, use these declarations

// Package patch replaces Kubernetes' package patch: a Cadastre server evaluates the expressions of patchers.
package patch

import (
	"context"

	celgo "github.com/google/cel-go/cel"
	celtypes "github.com/google/cel-go/common/types"
	v1 "k8s.io/api/admissionregistration/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	"k8s.io/client-go/openapi"

	"github.com/cadastre/cadastre/test/upstream/policyserver"
)

// Patcher applies a mutation to the object of a request.
type Patcher interface {
	Patch(ctx context.Context, r Request, budget int64) (runtime.Object, error)
}

// Request is a write of an object.
type Request struct {
	MatchedResource     schema.GroupVersionResource
	VersionedAttributes *admission.VersionedAttributes
	ObjectInterfaces    admission.ObjectInterfaces
	OptionalVariables   cel.OptionalVariableBindings
	Namespace           *corev1.Namespace
	TypeConverter       any
}

// Evaluate returns the object of a request after the mutations of a policy.
func (r Request) Evaluate(policy *v1.MutatingAdmissionPolicy) (runtime.Object, error) {
	c := policyserver.Case{Policies: []*v1.MutatingAdmissionPolicy{policy}}
	var err error
	if c.Object, err = policyserver.Deployment(r.VersionedAttributes.VersionedObject.Object()); err != nil {
		return nil, err
	}
	if old := r.VersionedAttributes.VersionedOldObject.Object(); old != nil {
		if c.Old, err = policyserver.Deployment(old); err != nil {
			return nil, err
		}
	}
	c.Params = policyserver.ConfigMaps(r.OptionalVariables.VersionedParams)
	if r.Namespace != nil {
		c.Namespace = r.Namespace.Name
	}
	after, err := policyserver.Evaluate(c)
	if err != nil {
		return nil, err
	}
	return after, nil
}

// expression is the last expression that the compiler has read, which is the expression of the patcher under test.
var expression string

// JSONPatchCondition is the expression of a JSON patch.
type JSONPatchCondition struct{ Expression string }

// GetExpression implements cel.ExpressionAccessor.
func (c *JSONPatchCondition) GetExpression() string { expression = c.Expression; return expression }

// ReturnTypes implements cel.ExpressionAccessor.
func (*JSONPatchCondition) ReturnTypes() []*celgo.Type {
	return []*celgo.Type{celgo.ListType(celtypes.NewObjectType("JSONPatch"))}
}

// ApplyConfigurationCondition is the expression of an apply configuration.
type ApplyConfigurationCondition struct{ Expression string }

// GetExpression implements cel.ExpressionAccessor.
func (c *ApplyConfigurationCondition) GetExpression() string {
	expression = c.Expression
	return expression
}

// ReturnTypes implements cel.ExpressionAccessor.
func (*ApplyConfigurationCondition) ReturnTypes() []*celgo.Type {
	return []*celgo.Type{celtypes.NewObjectType("Object")}
}

type jsonPatcher struct{ PatchEvaluator cel.MutatingEvaluator }

// Patch implements Patcher.
func (jsonPatcher) Patch(_ context.Context, r Request, _ int64) (runtime.Object, error) {
	return r.Evaluate(policyOf(v1.Mutation{PatchType: v1.PatchTypeJSONPatch, JSONPatch: &v1.JSONPatch{Expression: expression}}))
}

type applyConfigPatcher struct{ expressionEvaluator cel.MutatingEvaluator }

// Patch implements Patcher.
func (applyConfigPatcher) Patch(_ context.Context, r Request, _ int64) (runtime.Object, error) {
	return r.Evaluate(policyOf(v1.Mutation{
		PatchType: v1.PatchTypeApplyConfiguration, ApplyConfiguration: &v1.ApplyConfiguration{Expression: expression},
	}))
}

func policyOf(m v1.Mutation) *v1.MutatingAdmissionPolicy {
	return &v1.MutatingAdmissionPolicy{ObjectMeta: metav1.ObjectMeta{Name: "policy"}, Spec: v1.MutatingAdmissionPolicySpec{Mutations: []v1.Mutation{m}}}
}

// TypeConverterManager replaces Kubernetes' type, which loads schemas. Cadastre's schemas are built in.
type TypeConverterManager struct{}

// NewTypeConverterManager returns a TypeConverterManager.
func NewTypeConverterManager(any, openapi.Client) *TypeConverterManager {
	return &TypeConverterManager{}
}

// Run returns at once.
func (*TypeConverterManager) Run(context.Context) {}

// GetTypeConverter returns a value that is not nil.
func (m *TypeConverterManager) GetTypeConverter(schema.GroupVersionKind) any { return m }
