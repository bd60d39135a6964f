package policy

import (
	"context"
	"encoding/json"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	apiserveradmission "k8s.io/apiserver/pkg/admission"

	"github.com/cadastre/cadastre/internal/admission"
)

// Validate implements admission.Plugin. It evaluates all policies, so that the client receives all warnings, and returns the
// first denial.
func (p *Policies) Validate(ctx context.Context, attributes *admission.Attributes) error {
	a := admission.RecordOf(attributes)
	bound := p.bound.Load()
	if bound == nil {
		return nil
	}
	var first *denial
	for _, one := range *bound {
		denials, err := p.evaluatePolicy(ctx, one, a)
		if err != nil {
			return err
		}
		if first == nil && len(denials) > 0 {
			first = &denials[0]
		}
	}
	if first == nil {
		return nil
	}
	return first.error(a)
}

// evaluatePolicy evaluates a policy for each of its bindings and returns the denials. A misconfigured policy or binding
// denies the request, too, unless the failurePolicy is Ignore.
func (p *Policies) evaluatePolicy(ctx context.Context, pol *policy, a *admission.Record) (denials []denial, err error) {
	v, ok, err := pol.criteria.Match(ctx, a)
	if err != nil {
		return pol.configurationDenial("", err), nil
	}
	if !ok {
		return nil, nil
	}
	kind, err := p.paramKind(pol)
	if err != nil {
		return pol.configurationDenial("", err), nil
	}
	var at *apiserveradmission.VersionedAttributes
	for _, b := range pol.bindings {
		if b.criteria != nil {
			if _, ok, err := b.criteria.Match(ctx, a); err != nil {
				denials = append(denials, pol.configurationDenial(b.name, err)...)
				continue
			} else if !ok {
				continue
			}
		}
		params, err := p.collectParams(ctx, kind, b, a.Namespace)
		if err == nil && at == nil && len(params) > 0 {
			if at, err = a.CEL(v); err != nil {
				err = fmt.Errorf("failed to convert object version: %w", err)
			}
		}
		if err != nil {
			denials = append(denials, pol.configurationDenial(b.name, err)...)
			continue
		}
		namespace, err := p.namespaceOf(ctx, a)
		if err != nil {
			return nil, err
		}
		for _, param := range params {
			for _, d := range p.evaluate(ctx, pol, newInput(at, v, param, namespace)) {
				if p.enforce(a, pol, b, &d) {
					denials = append(denials, denial{d, pol.name, b.name})
				}
			}
		}
	}
	return denials, nil
}

// configurationDenial returns the denial for an invalid configuration of a policy, or of a binding if its name is not ""; none if
// the failurePolicy is Ignore.
func (pol *policy) configurationDenial(binding string, err error) []denial {
	if pol.ignores {
		return nil
	}
	what := "policy"
	if binding != "" {
		what = "binding"
	}
	return []denial{{decision{denies: true, message: fmt.Sprintf("failed to configure %s: %v", what, err)}, pol.name, binding}}
}

// namespaceOf returns the Namespace of the written object; nil if the object is cluster-scoped.
func (p *Policies) namespaceOf(ctx context.Context, a *admission.Record) (*corev1.Namespace, error) {
	if a.Namespace == "" || a.IsNamespace() {
		return nil, nil
	}
	namespaces := schema.GroupResource{Resource: "namespaces"}
	found, err := a.Reader.Get(ctx, namespaces, "", a.Namespace)
	if err != nil {
		return nil, err
	}
	if !found.Exists() {
		return nil, apierrors.NewNotFound(namespaces, a.Namespace)
	}
	namespace := &corev1.Namespace{}
	if err := json.Unmarshal(found.Document.AppendJSON(nil), namespace); err != nil {
		return nil, apierrors.NewInternalError(err)
	}
	return namespace, nil
}
