package policy

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/google/cel-go/common/types"
	"github.com/google/cel-go/common/types/ref"
	"github.com/google/cel-go/common/types/traits"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apiserver/pkg/admission/plugin/cel"
	celconfig "k8s.io/apiserver/pkg/apis/cel"
	celmutation "k8s.io/apiserver/pkg/cel/mutation"
	"k8s.io/apiserver/pkg/cel/mutation/dynamic"

	"github.com/cadastre/cadastre/document"
	"github.com/cadastre/cadastre/internal/admission"
	"github.com/cadastre/cadastre/strategic"
)

// patch applies the value of a mutation's expression to an object with managedFields. The error is an API status error if the
// request must be rejected independently of the failurePolicy.
type patch func(source admission.Source, object document.Value, value ref.Val) (document.Value, error)

// evaluate returns the object after a mutation, with defaults. It returns admission.ErrCostBudget if the budget is exhausted.
func (m *mutation) evaluate(ctx context.Context, r *request, object document.Value, s *input) (document.Value, error) {
	if errs := m.evaluator.CompilationErrors(); len(errs) > 0 {
		return object, errors.Join(errs...)
	}
	all := cel.OptionalVariableBindings{VersionedParams: s.params, Authorizer: r.options.Authorizer}
	budget, err := s.costs.Grant(celconfig.RuntimeCELCostBudget)
	if err != nil {
		return object, err
	}
	result, left, err := m.evaluator.ForInput(ctx, s.at, s.request, all, s.namespace, budget)
	s.costs.Spend(budget, left)
	if err != nil {
		return object, err
	}
	if result.Error != nil {
		return object, result.Error
	}
	patched, err := m.patch(r.Source, object, result.EvalResult)
	if err != nil || document.Same(patched, object) {
		return object, err
	}
	return r.Source.Default(patched), nil
}

// applyPatch merges an apply configuration, to which the expression of a mutation evaluates, into an object.
func applyPatch(source admission.Source, object document.Value, value ref.Val) (document.Value, error) {
	configuration, ok := value.(*dynamic.ObjectVal)
	if !ok {
		return object, fmt.Errorf("unsupported return type from ApplyConfiguration expression: %v", value.Type())
	}
	if err := configuration.CheckTypeNamesMatchFieldPathNames(); err != nil {
		return object, fmt.Errorf("type mismatch: %w", err)
	}
	config, err := configurationOf(configuration)
	if err != nil {
		return object, fmt.Errorf("error applying patch: failed to convert patch object to typed object: %w", err)
	}
	merged, err := source.Merge(object, config)
	if err != nil {
		if status := apierrors.APIStatus(nil); errors.As(err, &status) {
			return object, err
		}
		return object, fmt.Errorf("error applying patch: %w", err)
	}
	if document.Same(merged, object) {
		return object, nil
	}
	version, kind := object.Get("apiVersion").Text(), object.Get("kind").Text()
	read, _, err := source.Read(merged, version)
	if err != nil {
		return object, fmt.Errorf("unable to convert unstructured object to %s: %w", schema.FromAPIVersionAndKind(version, kind), err)
	}
	return read, nil
}

// jsonPatch applies a JSON patch, to which the expression of a mutation evaluates, to an object. A patch whose test operation
// fails changes nothing.
func jsonPatch(source admission.Source, object document.Value, value ref.Val) (document.Value, error) {
	operations, err := operationsOf(value)
	if err != nil {
		return object, err
	}
	patched, err := strategic.ApplyJSONPatch(object, operations)
	failed := (*strategic.Error)(nil)
	switch {
	case errors.As(err, &failed) && failed.Reason == strategic.TestFailed:
		return object, nil
	case err != nil:
		return object, fmt.Errorf("JSON Patch: %w", err)
	case document.Same(patched, object):
		return object, nil
	}
	if patched.Kind() != document.Map {
		return object, apierrors.NewInternalError(fmt.Errorf("JSON Patch: expected an object after the patch, received a %s", patched.Kind()))
	}
	read, unknown, err := source.Read(patched, object.Get("apiVersion").Text())
	if err != nil {
		return object, apierrors.NewInternalError(err)
	}
	if len(unknown) > 0 {
		problems := make([]string, len(unknown))
		for i, path := range unknown {
			problems[i] = fmt.Sprintf("unknown field %q", path)
		}
		return object, apierrors.NewInternalError(fmt.Errorf("strict decoding error: %s", strings.Join(problems, ", ")))
	}
	return read, nil
}

// operationsOf returns a list of JSONPatch values as a JSON patch.
func operationsOf(value ref.Val) (document.Value, error) {
	list, ok := value.(traits.Lister)
	if !ok {
		return document.Value{}, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array")
	}
	var operations []document.Value
	for i := list.Iterator(); i.HasNext() == types.True; {
		item := i.Next()
		o, ok := item.(*celmutation.JSONPatchVal)
		if !ok {
			return document.Value{}, fmt.Errorf("type mismatch: JSONPatchType.expression should evaluate to array of JSONPatch, got element of %T", item)
		}
		operation, err := operationOf(o)
		if err != nil {
			return document.Value{}, err
		}
		operations = append(operations, operation)
	}
	return document.NewList(operations...), nil
}

// operationOf returns a JSONPatch value as an operation of a JSON patch.
func operationOf(o *celmutation.JSONPatchVal) (document.Value, error) {
	fields := []document.Field{{Name: "op", Value: document.NewString(o.Op)}, {Name: "path", Value: document.NewString(o.Path)}}
	if o.From != "" {
		fields = append(fields, document.Field{Name: "from", Value: document.NewString(o.From)})
	}
	if o.Val != nil {
		if object, ok := o.Val.(*dynamic.ObjectVal); ok {
			if err := object.CheckTypeNamesMatchFieldPathNames(); err != nil {
				return document.Value{}, fmt.Errorf("type mismatch: %w", err)
			}
		}
		value, err := documentOf(o.Val)
		if err != nil {
			return document.Value{}, fmt.Errorf("JSONPath valueExpression evaluated to a type that could not marshal to JSON: %w", err)
		}
		fields = append(fields, document.Field{Name: "value", Value: value})
	}
	return document.NewMap(fields...), nil
}
